// validate.js: run the Khronos glTF validator over files. Prints each error; exit code 1 when there was one.
// Usage: node scripts/validate.js FILE...   (after scripts/validator.sh)
const fs = require("fs");
const path = require("path");
const validator = require(path.join(__dirname, "../build/node/node_modules/gltf-validator"));

async function main(files) {
  let errors = 0;
  for (const file of files) {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
      uri: file,
      externalResourceFunction: (uri) =>
        fs.promises.readFile(path.join(path.dirname(file), decodeURIComponent(uri))).then((bytes) => new Uint8Array(bytes)),
    });
    errors += report.issues.numErrors;
    console.log(`${file}: ${report.issues.numErrors} errors, ${report.issues.numWarnings} warnings`);
    for (const m of report.issues.messages) {
      if (m.severity <= 1) console.log(`  ${m.severity ? "warning" : "error"} ${m.code} ${m.pointer || ""}: ${m.message}`);
    }
  }
  process.exit(errors ? 1 : 0);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(String(error));
  process.exit(1);
});
