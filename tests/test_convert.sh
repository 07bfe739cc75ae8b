#!/bin/sh
# test_convert.sh CUTIS: convert keeps a character, unpacks and compresses it; info names reader and extensions.
. "$(dirname "$0")/shell.sh"

run 0 make arm --resolution 0.3 -o arm.glb
run 0 convert arm.glb same.glb
run 0 info same.glb
shows "read by    glTF reader"
run 0 bake arm.glb --solver lbs -o arm.npy
run 0 bake same.glb --solver lbs -o same.npy
cmp -s arm.npy same.npy || fail "convert changed the motion"
run 0 convert arm.glb arm.obj
shows "arm\.obj: "

# compressed, and back
run 0 convert arm.glb small.glb --compress meshopt
if grep -q "built without meshoptimizer" err; then
    echo "no meshoptimizer: skipped"
else
    shows "positions rounded by at most"
    [ "$(wc -c <small.glb)" -lt "$(($(wc -c <arm.glb) / 2))" ] || fail "compressed is not below half"
    run 0 info small.glb
    shows "extensions .*EXT_meshopt_compression"
    run 0 convert small.glb back.glb
    run 0 info back.glb --json
    run 0 bake small.glb --solver lbs -o small.npy
    run 0 bake back.glb --solver lbs -o back.npy
    cmp -s small.npy back.npy || fail "unpacking changed the motion"
    run 0 bake arm.glb --solver dqs -o baked.glb --compress meshopt
    shows "compressed"
fi

# mistakes
run 2 convert arm.glb arm.fbx
shows "must end in" err
run 2 convert arm.glb x.glb --compress zip
shows "none or meshopt" err
run 1 convert nothing.glb x.glb
shows "there is no file" err
run 1 convert arm.glb arm.glb
shows "is the input itself" err
run 2 bake arm.glb -o x.pc2 --compress meshopt
shows "with a .glb as output" err
printf 'solid a\n' >bad.stl
run 1 convert bad.stl x.glb
[ ! -e x.glb ] || fail "a file was written"
finish
