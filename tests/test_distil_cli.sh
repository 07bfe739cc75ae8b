#!/bin/sh
# test_distil_cli.sh PROGRAM: `cutis distil`: learning, playing, messages; the players in C99, C++ and JavaScript agree.
. "$(dirname "$0")/shell.sh"

"$program" make arm --resolution 0.4 -o arm.glb -q
run 0 distil arm.glb --solver lattice --poses 16 --points 80 -o live.glb --report report.json
shows "error"
tells report.json "r['points'] == 80 and r['poses'] == 16 and len(r['regions']) == 4"
tells report.json "0 < r['rms'] < r['skinning_rms']"

# the file plays in the same program, and elsewhere as plain skinning
run 0 distil live.glb --play flex -o live.npy
run 0 bake live.glb --solver lbs --clip flex -o lbs.npy
differ live.npy lbs.npy "learned flesh and plain skinning"

# the same result from kept simulations
run 0 distil arm.glb --solver lattice --poses 16 --points 80 --data kept -o one.glb
run 0 distil arm.glb --solver lattice --poses 16 --points 80 --data kept --threads 1 -o two.glb
equal one.glb two.glb "a run from kept simulations"
equal one.glb live.glb "a run that keeps simulations"

# mistakes
run 2 distil arm.glb
says "the output is missing: -o OUT.glb"
run 2 distil arm -o x.glb
shows "cutis convert" err
run 2 distil arm.glb -o x.glb --terms pose,magic
run 2 distil arm.glb -o x.glb --clip flx
shows "no clip 'flx'" err
run 1 distil arm.glb --play flex -o x.npy
shows "no learned flesh" err
run 2 distil live.glb --play flex -o x.glb
[ -e x.glb ] && fail "a failed run left a file"

# The player alone: C99 without a library, and C++. No clip of this man has contact, so the player is given turns to play.
"$program" make man --resolution 0.4 -o man.glb -q
run 0 distil man.glb --solver lattice --detail 600 --poses 16 --points 240 -o man_live.glb
cat >player.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "cutis_live.h"
int main(void)
{
    static char glb[1 << 24];
    static float skin[12 * 256];
    size_t size = 0, read = fread(glb, 1, sizeof glb, fopen("man_live.glb", "rb"));
    const void *data = cutis_live_find(glb, read, &size);
    cutis_live live;
    if (!data || !cutis_live_open(&live, data, size)) return 1;
    cutis_live_begin(&live, (float *)malloc(cutis_live_memory(&live)));
    float *limits = (float *)live.turn_limits, *scales = (float *)live.turn_scales, turned = 0;
    int16_t *turns = (int16_t *)live.turns;
    for (int j = 0; j < live.joint_count; j++) limits[j] = 0.3f;
    for (int k = 0; k < 3 * live.joint_count; k++) scales[k] = 1e-2f;
    for (int k = 0; k < 3 * live.joint_count * (live.patch_counts[0] + live.patch_counts[1]); k++) turns[k] = (int16_t)(k * 37 % 201 - 100);
    FILE *patched = fopen("patched.glb", "wb");
    fwrite(glb, 1, read, patched);
    fclose(patched);
    FILE *skins = fopen("skins", "wb"), *offsets = fopen("offsets", "wb");
    for (int f = 0; f < 40; f++) {
        for (int j = 0; j < live.joint_count; j++) {
            /* bend about z, more at each joint, around a moving origin */
            float t = 0.02f * (float)f * (float)j, d = 1 / (1 + t * t), c = (1 - t * t) * d, s = 2 * t * d;
            const float m[12] = {c, -s, 0, 0.01f * (float)f, s, c, 0, 0, 0, 0, 1, 0};
            for (int k = 0; k < 12; k++) skin[12 * j + k] = m[k];
        }
        cutis_live_update(&live, skin, 1 / 30.0f);
        for (int k = 0; k < 12 * live.joint_count; k++) {
            float change = live.skin[k] - skin[k];
            if (change > turned) turned = change;
        }
        fwrite(skin, 4, 12 * (size_t)live.joint_count, skins);
        fwrite(live.offsets, 4, 3 * (size_t)live.point_count, offsets);
        fwrite(live.skin, 4, 12 * (size_t)live.joint_count, offsets);
    }
    fclose(skins);
    fclose(offsets);
    printf("%g\n", (double)turned);
    return turned > 0.01f ? 0 : 1;
}
C
checks=$((checks + 1))
cc -std=c99 -Wall -Wextra -Wshadow -Werror -I"$root/players" player.c -o player && ./player || fail "the player in C99"

checks=$((checks + 1))
printf '#include "cutis_live.h"\nint main() { cutis_live live; return cutis_live_open(&live, "", 0); }\n' >player.cpp
c++ -std=c++11 -Wall -Wextra -Wno-missing-field-initializers -Werror -I"$root/players" player.cpp -o player_cpp && ./player_cpp || fail "the player in C++"

# JavaScript
if command -v node >/dev/null 2>&1; then
    cat >player.mjs <<'JS'
import { readFileSync } from "node:fs";
const { LiveFlesh, findFlesh } = await import(process.argv[2]);
const floats = (name) => { const b = readFileSync(name); return new Float32Array(b.buffer.slice(b.byteOffset, b.byteOffset + b.length)); };
const live = new LiveFlesh(findFlesh(readFileSync("patched.glb")));
const skins = floats("skins"), expected = floats("offsets"), width = 12 * live.jointCount;
let worst = 0, largest = 0;
for (let f = 0, at = 0; f < 40; f++) {
  live.update(skins.subarray(f * width, (f + 1) * width), Math.fround(1 / 30));
  for (const value of [...live.offsets, ...live.skin]) worst = Math.max(worst, Math.abs(value - expected[at++]));
  largest = Math.max(largest, ...live.offsets);
}
console.log(worst / live.size, largest / live.size);
if (!(worst < 1e-5 * live.size && largest > 1e-4 * live.size)) process.exit(1);
let refused = false;
try { new LiveFlesh(new Uint8Array(100)); } catch { refused = true; }
if (!refused) process.exit(1);
JS
    checks=$((checks + 1))
    node player.mjs "$root/web/cutis/src/live.js" >out 2>&1 || fail "the player in JavaScript: $(cat out)"
else
    echo "skipped: the player in JavaScript (no node)"
fi

finish
