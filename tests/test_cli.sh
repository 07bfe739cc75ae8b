#!/bin/sh
# test_cli.sh PROGRAM: the cutis program as its users meet it: exact messages, exit codes, files.

. "$(dirname "$0")/shell.sh"
python=
[ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null && python=/usr/bin/python3

silent() {
    checks=$((checks + 1))
    [ ! -s out ] && [ ! -s err ] || fail "$1 prints something"
}

# The value of a plain key of a JSON file as this program prints it.
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$2" | head -n 1; }

valid_json() {
    [ -n "$python" ] || return 0
    checks=$((checks + 1))
    $python -m json.tool "$1" >/dev/null || fail "$1 is not valid JSON"
}

# No file but these is in the folder given.
only() {
    where=$1
    shift
    same "$(ls -A "$where" | tr '\n' ' ')" "$*${1:+ }" "files in $where"
}

# ---- help and the command line ----
run 0 --version
shows '^cutis [0-9]*\.[0-9]*\.[0-9]*$'
run 0 version
"$program" solvers layers >expected
run 0 help layers
same "$(cat out)" "$(cat expected)" "help of a solver"
run 0 --help
shows '^  bake '
run 0 help
run 2
for command in $("$program" help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | grep -v '^cutis$') completion manual; do
    run 0 "$command" --help
    shows "^usage: cutis $command"
    shows "^example"
    cp out expected
    run 0 help "$command"
    same "$(cat out)" "$(cat expected)" "help $command"
done

run 2 bkae
says "unknown command 'bkae'; did you mean 'bake'?"
run 2 hero.glb
says "unknown command 'hero.glb'; to simulate a file: cutis bake hero.glb -o OUT.glb"
run 2 bake
says "the input is missing; usage: cutis bake FILE|NAME -o OUT [--solver S] [--clip C] [options]"
run 2 bake arm
run 2 bake arm -o x.pc2 --slover lbs
says "unknown option --slover; did you mean --solver?"
run 2 bake arm -o x.pc2 --zzzzzz
says "unknown option --zzzzzz"
run 2 bake arm hand -o x.pc2
says "unexpected argument 'hand'"
run 2 bake arm -o x.pc2 --fps
says "--fps needs a value: F"
run 2 bake arm -o --solver lbs
says "--output needs a value: OUT"
run 2 bake arm -o x.pc2 --fps fast
says "--fps needs a number, not 'fast'"
run 2 bake arm -o x.pc2 --fps nan
says "--fps needs a number, not 'nan'"
run 2 bake arm -o x.pc2 --fps 0
says "--fps must be between 0.01 and 10000, not 0"
run 2 bake arm -o x.pc2 --threads 1.5
says "--threads needs a whole number, not '1.5'"
run 2 bake arm -o x.pc2 --fps 30 --fps 60
says "--fps is given twice"
run 2 bake arm -o x.pc2 --quiet=yes
says "--quiet takes no value"
run 2 bake arm -o x.pc2 --set stiffness
says "--set needs KEY=VALUE, not 'stiffness'"
run 2 bake arm -o x.foo
shows "use one of .*\.pc2, \.mdd, \.npy" err
run 2 bake arn -o x.pc2
says "there is no file and no built-in character 'arn'; did you mean 'arm'?"
run 1 bake arn.glb -o x.pc2
says "there is no file 'arn.glb'"
run 2 bake arm -o x.pc2 --clip flx
says "there is no clip 'flx'; did you mean 'flex'?"
run 2 bake arm -o x.pc2 --clip flex --solver lbz
shows "did you mean .*lbs" err
run 2 bake arm -o x.pc2 --clip flex --set nosuchkey=1
shows "nosuchkey" err
run 2 bake arm -o x.pc2 --clip jump
says "there is no clip 'jump'; there are flex, twist, shake"
run 2 bake arm -o x.pc2 --clip flex --solver layers --set stifness=0.5
says "solver layers has no parameter 'stifness'; did you mean 'skin_stiffness'?"
run 2 bake arm -o x.pc2 --clip flex --solver layers --set bones.nose.skin_stiffness=0.5
says "there is no joint 'nose'; 'cutis info' lists them"
run 2 bake arm x.glb
says "unexpected argument 'x.glb'; to write it, use -o x.glb"
run 2 bake arm -o x.gltf
shows "glTF is written as .glb" err
run 2 bake arm -o x.mp4
shows "'cutis render' draws pictures" err
# Files of other programs: what to do with them.
for ending in fbx blend dae stl ztl bvh; do : >"hero.$ending"; done
run 1 bake hero.fbx -o x.glb
shows "hero.fbx: it is not an FBX file" err
run 2 bake hero.blend -o x.glb
shows "export it as glTF 2.0" err
run 2 bake hero.bvh -o x.glb
shows "as its motion" err
run 1 info hero.stl
shows "too short to be an STL file" err
run 2 info hero.ztl
shows "save it as .obj or .glb" err
rm hero.*
printf 'Kaydara FBX Binary  \0' >hero.glb
run 1 info hero.glb
says "hero.glb: it is not a glTF file: it is an FBX file; rename it to .fbx"
printf 'version https://git-lfs.github.com/spec/v1\n' >hero.glb
run 1 info hero.glb
shows "git lfs pull" err
: >hero.glb
run 1 info hero.glb
says "hero.glb: it is not a glTF file: it is empty"
: >hero.gltf
run 1 info hero.gltf
says "hero.gltf: it is not a glTF file: it is empty"
rm hero.*
# The configuration that the help shows is one that works.
"$program" bake --help | tr '\n' ' ' | sed 's/.*same options: \({.*}}\).*/\1/; s/"Spine"/"forearm"/' >help.json
run 0 make arm --resolution 0.1 -o tiny.glb
run 0 bake tiny.glb --config help.json --detail drawn --fps 1 -q -o x.npy
rm tiny.glb x.npy help.json
run 2 solvers lsb
says "unknown solver 'lsb'; did you mean 'lbs'?"
run 2 bench lsb
says "unknown benchmark 'lsb'; did you mean 'lbs'?"
run 2 make arn -o x.glb
says "there is no built-in character 'arn'; did you mean 'arm'?"
run 2 make arm -o x.gbl
only . err expected out

# ---- lists ----
run 0 models
shows '^arm  .*flex'
run 0 models --json
valid_json out
run 0 solvers
shows '^lbs '
shows '^dqs '
run 0 solvers --json
valid_json out
run 0 solvers lbs
run 0 info arm
shows '^surface    closed, 1 component'
shows '^problems   none'
run 0 info arm --json
valid_json out
same "$(value closed out)" true "arm is closed"
points=$(value points out)

# ---- files ----
run 0 make arm -o arm.glb
run 0 info arm.glb --json
same "$(value points out)" "$points" "points of arm.glb" # vertices are more: the file splits texture seams
cp arm.glb arm.vrm
run 0 info arm.vrm --json
same "$(value points out)" "$points" "points of arm.vrm"
rm arm.vrm
run 0 make arm --resolution 0.2 -o small.obj
shows 'small\.obj: '
: >file
run 1 bake arm --solver lbs --clip flex -o nofolder/x.pc2
says "cannot write 'nofolder/x.pc2': there is no folder 'nofolder'"
run 1 bake arm --solver lbs --clip flex -o file/x.pc2
says "cannot write 'file/x.pc2': 'file' is not a folder"
mkdir folder.pc2
run 1 bake arm --solver lbs --clip flex -o folder.pc2
says "cannot write 'folder.pc2': it is a folder"
cp small.obj before
run 1 bake small.obj -o small.obj
says "'small.obj' is the input itself; choose another output"
ln -s small.obj link.obj
run 1 bake small.obj -o link.obj
cmp -s small.obj before || fail "the input was harmed"
rm -r link.obj folder.pc2 file

# ---- bake ----
run 0 bake arm --clip flex --solver lbs --fps 30 -o a.pc2 --report a.json
shows '^a\.pc2 '
shows '^  hash  *[0-9a-f]*$'
valid_json a.json
for key in schema version solver parameters timings build_ms step_ms peak_memory hash frames fps warnings stats; do
    shows "\"$key\":" a.json
done
hash=$(value hash a.json)
same "$(printf %s "$hash" | wc -c | tr -d ' ')" 16 "length of the hash"
run 0 bake arm --clip flex --solver lbs --fps 30 -o a.npy --report b.json --quiet
silent "bake --quiet"
same "$(value hash b.json)" "$hash" "hash for .npy"
run 0 bake arm --clip=flex -s lbs -oa.mdd --report=b.json -q
same "$(value hash b.json)" "$hash" "hash for .mdd"
run 0 bake arm.glb --solver lbs --clip flex -o g.npy --report g.json -q
same "$(value frames g.json)" "$(value frames a.json)" "frames of the character from a file"
for threads in 1 2 3; do
    for solver in lbs dqs; do
        run 0 bake arm --clip flex --solver $solver --threads $threads -o t.npy --report t.json -q
        same "$(value threads t.json)" $threads "threads in force"
        eval "hash_$threads=$(value hash t.json)"
        [ $solver = lbs ] && same "$(value hash t.json)" "$hash" "lbs with $threads threads"
        eval "${solver}_$threads=$(value hash t.json)"
    done
done
same "$dqs_1 $dqs_1" "$dqs_2 $dqs_3" "dqs with 1, 2, 3 threads"
[ "$dqs_1" != "$hash" ] || fail "lbs and dqs give the same hash"

# Twice the rate, twice the frames less one: first and last key are in.
run 0 bake arm --solver lbs --clip flex --fps 60 -o t.npy --report t.json -q
same "$(value frames t.json)" $(($(value frames a.json) * 2 - 1)) "frames at 60"
# Several clips and none chosen: says which.
run 0 bake arm --solver lbs -o t.npy
shows "baking 'flex', the first of" err
# A character with a skin gets flesh without a word.
run 0 make arm --resolution 0.3 -o little.glb
run 0 bake little.glb --clip flex --detail drawn --fps 2 -o t.npy --report t.json -q
same "$(value solver t.json)" tissue "solver of a skinned character"
# No clip: one frame. No skin: nothing to simulate.
run 0 bake small.obj -o t.npy --report t.json
shows "warning: .* has no clip" err
same "$(value frames t.json) $(value solver t.json)" "1 lbs" "frames without a clip, solver without a skin"
run 0 bake arm --solver lbs --clip flex --fps 5 -o frames.obj -q
[ -f frames.obj/frame_0000.obj ] || fail "no frames.obj/frame_0000.obj"

# Textures in files beside a .gltf, with a space in the name as Blender writes it, go into the .glb; lost ones are told.
if [ -n "$python" ]; then
    mkdir textured
    cat >textured.py <<'END'
import base64, json, struct, sys
data = open('arm.glb', 'rb').read()
size = struct.unpack('<I', data[12:16])[0]
root = json.loads(data[20:20 + size])
root['buffers'][0]['uri'] = 'data:application/octet-stream;base64,' + base64.b64encode(data[28 + size:]).decode()
root['images'] = [{'uri': 'base%20color.png'}]
root['textures'] = [{'source': 0}]
json.dump(root, open('textured/arm.gltf', 'w'))
open('textured/base color.png', 'wb').write(b'\x89PNG is all that matters here')
END
    $python textured.py
    run 0 bake textured/arm.gltf --solver lbs --clip flex --fps 2 -o t.glb
    checks=$((checks + 2))
    grep -q "PNG is all that matters" t.glb || fail "the texture is lost"
    ! grep -q "base%20color" t.glb || fail "the texture is elsewhere"
    run 0 rig textured/arm.gltf --template own -o t.glb
    shows "warning: materials are kept by name only, without textures" err
    run 0 rig textured/arm.gltf -o t.glb
    checks=$((checks + 1))
    grep -q "PNG is all that matters" t.glb || fail "rig: the texture is lost"
    rm "textured/base color.png"
    run 0 bake textured/arm.gltf --solver lbs --clip flex --fps 2 -o t.glb
    shows "warning: 1 image could not be read and is not part of t.glb" err
    rm -r textured textured.py
fi

# A motion from a file: by name, by a name map, and none that fits.
cat >wave.bvh <<'END'
HIERARCHY
ROOT Shoulder
{
  OFFSET 0 0 0
  CHANNELS 3 Zrotation Xrotation Yrotation
  JOINT Ulna
  {
    OFFSET 0.3 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0.3 0 0
    }
  }
}
MOTION
Frames: 11
Frame Time: 0.1
END
for i in 0 1 2 3 4 5 6 7 8 9 10; do echo "0 0 0 ${i}0 0 0" >>wave.bvh; done
run 0 bake arm --solver lbs --motion wave.bvh -o t.npy --fps 20 --report t.json
shows "warning: .*match no joint of the character" err
same "$(value clip t.json) $(value frames t.json)" "wave 21" "clip and frames of a motion"
still=$(value hash t.json)
run 0 bake arm --solver lbs --motion wave.bvh --map Ulna=forearm -o t.npy --fps 20 --report t.json
checks=$((checks + 1))
[ ! -s err ] && [ "$(value hash t.json)" != "$still" ] || fail "the name map has no effect"
sed 's/Shoulder/Tail/' wave.bvh >tail.bvh
run 0 measure arm t.npy --motion wave.bvh
shows "against linear skinning of the clip: [lb][oa]"
run 0 bake arm --solver lbs --motion wave.bvh -o t.npy --fps 20 -q
run 0 measure arm t.npy --motion wave.bvh --fps 20
shows "against linear skinning of the clip: good"
run 0 render arm --motion wave.bvh --map Ulna=forearm --frame 1s --size 64x64 -q -o waved.png
run 0 render arm --motion wave.bvh --map Ulna=forearm --frame 0s --size 64x64 -q -o still.png
checks=$((checks + 1))
! cmp -s waved.png still.png || fail "render does not show the motion"
run 0 compare arm --motion wave.bvh --solvers lbs,dqs --end 0.2 -q -o waves
run 0 compare arm --motion wave.bvh --clip wave --solvers lbs,dqs --end 0.2 -q -o named
equal waves/sheet.png named/sheet.png "the motion's clip by its name"
run 0 compare arm --motion wave.bvh --clip wave --prop ball --solvers lbs --end 0.2 -q -o balls
differ waves/bend.png balls/bend.png "with and without a prop"
run 0 make man --resolution 0.3 -o three.glb
run 0 bake arm --solver lbs --motion three.glb --map upper_arm_l=upper_arm --map forearm_l=forearm -o t.npy --fps 2
same "$(grep -c 'match no joint of the character' err)" 1 "warnings about the joints of a file of three clips"
rm three.glb
run 1 bake arm --solver lbs --motion tail.bvh -o t.npy
run 1 render arm --motion tail.bvh -o t.png
shows "pass a name map" err
run 1 bake arm --solver lbs --motion nofile.bvh -o t.npy

# A bare mesh and a capture whose joints are named otherwise: it gets a skeleton, and its arm goes up and down.
cat >arm.bvh <<'END'
HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 3 Xposition Yposition Zposition
  JOINT LeftArm
  {
    OFFSET 2 5 0
    CHANNELS 1 Zrotation
    JOINT LeftForeArm
    {
      OFFSET 3 0 0
      CHANNELS 0
      End Site
      {
        OFFSET 3 0 0
      }
    }
  }
}
MOTION
Frames: 5
Frame Time: 0.1
END
for i in 0 2 4 2 0; do echo "0 0 0 ${i}0" >>arm.bvh; done
run 0 make man --resolution 0.3 -o bare.obj
# The same mesh with z up, as other programs write it: recognised, told, and turned.
awk '$1 == "v" { print "v", $2, -$4, $3; next } { print }' bare.obj >lying.obj
run 0 rig bare.obj -o t.glb
checks=$((checks + 1))
! grep -q "does not stand" out || fail "a standing man does not stand"
cp out standing
run 0 rig lying.obj -o t.glb
shows "recognised: biped"
shows "Z points up"
run 0 rig lying.obj --up z -o t.glb
same "$(grep -c "does not stand" out) $(sed -n '2,3p' out)" "0 $(sed -n '2,3p' standing)" "a man with z up, turned"
run 2 rig t.glb --up z -o u.glb
# An up axis that is given is the only one; a named template is uncertain when an alternative fit is near.
"$program" rig lying.obj --up y --template biped -o t.glb >out 2>err
checks=$((checks + 1))
! grep -q "Z points up" out || fail "--up y is fitted with +Z up"
run 0 make cat -o cat.obj
run 3 rig cat.obj --template biped -o t.glb
shows "not certain: biped (0...) or an alternative fit (0...)"
run 0 rig cat.obj --template tree -o t.glb
shows "recognised: tree"
rm cat.obj
rm lying.obj standing
run 0 bake bare.obj --solver lbs --motion arm.bvh -o t.glb --report t.json
shows "bare has no skeleton" out
shows "a biped" out
same "$(value clip t.json)" "arm" "clip of a bare mesh"
run 0 compare bare.obj --motion arm.bvh --clip arm --prop ball --solvers lbs -o bared
shows "the pictures do not show the props" err
written bared/sheet.png
run 0 info t.glb
shows "upper_arm_l" out
[ ! -e t.glb.rig.glb ] || fail "a file was left behind"

if [ -n "$python" ]; then
    checks=$((checks + 1))
    $python - <<'END' || fail "pc2, mdd and npy differ"
import numpy, struct
npy = numpy.load('a.npy')
frames, vertices = npy.shape[:2]
pc2 = open('a.pc2', 'rb').read()
magic, version, count, start, rate, samples = struct.unpack('<12siiffi', pc2[:32])
assert magic == b'POINTCACHE2\0' and version == 1 and (count, samples) == (vertices, frames), (count, samples)
assert start == 0 and rate == 1, (start, rate)  # in frames, as other programs read them
assert (numpy.frombuffer(pc2[32:], '<f4').reshape(npy.shape) == npy).all()
mdd = open('a.mdd', 'rb').read()
assert struct.unpack('>ii', mdd[:8]) == (frames, vertices)
times = numpy.frombuffer(mdd[8:8 + 4 * frames], '>f4')
assert abs(times - numpy.arange(frames) / 30).max() < 1e-6
assert (numpy.frombuffer(mdd[8 + 4 * frames:], '>f4').reshape(npy.shape) == npy).all()
assert npy.dtype == numpy.dtype('<f4') and numpy.isfinite(npy).all() and abs(npy[1:] - npy[0]).max() > 0.01
END
else
    echo "skipped: reading the caches back needs /usr/bin/python3 with numpy"
fi

# ---- configuration ----
cat >c.json <<'END'
{"solver": "dqs", "fps": 15.5, "clip": "flex", "lead_in": 0.5, "set": {}}
END
run 0 bake arm -o t.npy --config c.json --report t.json -q
same "$(value solver t.json) $(value fps t.json)" "dqs 15.5" "configured solver and fps"
run 0 bake arm -o t.npy --config c.json --fps 20 --report t.json -q
same "$(value fps t.json)" 20.0 "the command line wins"
cp c.json before
run 1 bake arm -o t.npy --config c.json --report ./c.json
says "'./c.json' is also an input; choose another output"
equal c.json before "a configuration after a bake"
run 0 bake arm --clip flex --solver lbs --fps 5 -q -o body.npy
run 1 bake arm --clip flex --solver slide --motion body.npy -o body.npy
says "'body.npy' is also an input; choose another output"
rm before body.npy
echo '{"slover": "dqs"}' >c.json
run 2 bake arm -o t.npy --config c.json
says "configuration 'c.json': unknown key 'slover'; did you mean 'solver'?"
echo '{"fps": [1]}' >c.json
run 2 bake arm -o t.npy --config c.json
says "configuration 'c.json': 'fps' must be a number or a string"
echo '{"fps": -1}' >c.json
run 2 bake arm -o t.npy --config c.json
says "--fps must be between 0.01 and 10000, not -1"
echo '{"bones": {"nosuchbone": {"stiffness": 1}}}' >c.json
run 2 bake arm -o t.npy --config c.json
echo '{"fps": 30,}' >c.json
run 1 bake arm -o t.npy --config c.json
shows "'c.json' is not valid JSON: .* (line 1, column" err

# ---- measure ----
run 0 measure arm a.pc2 --json
valid_json out
for key in frames vertices volume_rest volume_error_max volume_error_mean self_intersections_rest \
    self_intersections_max stretch_p99 area_distortion_p99 acceleration_rms min_section_ratio penetration_max \
    non_finite; do
    shows "\"$key\": [-0-9]" out
done
same "$(value frames out)" "$(value frames a.json)" "frames measured"
same "$(value non_finite out)" 0 "values that are not finite"
run 0 measure arm a.pc2
shows '^volume_error_max  *[0-9.e-]*  largest'
run 1 measure hand a.pc2
shows "made from another character" err
run 1 measure arm nofile.pc2
# A bake into a .glb is read back like any other, played as players play it.
run 0 bake arm --solver dqs --clip flex --fps 8 --targets exact -q -o played.glb
run 0 bake arm --solver dqs --clip flex --fps 8 -q -o played.mdd
for file in played.glb played.mdd; do
    run 0 measure arm $file --json
    for key in frames fps vertices volume_error_max stretch_p99; do
        value $key out | cut -c 1-5
    done >$file.figures
done
equal played.glb.figures played.mdd.figures "figures of a .glb and of a cache"
run 0 render arm played.glb played.mdd --frame 9 --size 64x64 --style samples:1 -o played.png
run 1 measure arm played.glb --clip flx
says "played.glb has no clip 'flx'"
run 0 measure played.glb --json
same "$(value frames out)" 21 "frames of a .glb alone"
run 2 measure arm
run 1 measure hand played.glb
shows "made from another character" err
rm played*

# ---- a failing or interrupted run leaves everything as it was ----
mkdir safe
echo "the old file" >safe/x.npy
cp safe/x.npy old
(
    trap '' XFSZ # so that the write fails instead of the process being killed
    ulimit -f 64
    "$program" bake arm --solver lbs --clip flex --fps 240 -o safe/x.npy >out 2>err
    echo $? >code
)
same "$(cat code)" 1 "exit code of a bake onto a full disk"
cmp -s safe/x.npy old || fail "a failed bake changed the old file"
only safe x.npy
for signal in INT TERM; do
    "$program" bake arm --solver lbs --clip flex --fps 10000 -o safe/x.npy >out 2>err &
    child=$!
    # As soon as it writes, stop it.
    tries=0
    while [ "$(ls -A safe | wc -l)" -lt 2 ] && [ $tries -lt 100 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -$signal $child
    wait $child
    same $? 130 "exit code after SIG$signal"
    cmp -s safe/x.npy old || fail "an interrupted bake changed the old file"
    only safe x.npy
done

# ---- bench, completion, manual ----
run 0 bench lbs dqs --seconds 0 --json
valid_json out
shows '"ns_per_vertex": [0-9]'
same "$(grep -c '"name": ' out)" 4 "rows of the benchmark"
run 0 bench list
run 0 completion
if command -v bash >/dev/null; then
    cp out completion.sh
    checks=$((checks + 1))
    bash -n completion.sh || fail "the completion is not valid bash"
    same "$(bash -c '. ./completion.sh; COMP_WORDS=(cutis bake --sol); COMP_CWORD=2; _cutis; echo "${COMPREPLY[*]}"')" \
        --solver "completion of --sol"
fi
run 0 manual
shows '^\.SS cutis bake '
if command -v groff >/dev/null; then
    checks=$((checks + 1))
    [ -z "$(groff -man -Tutf8 -ww -z out 2>&1)" ] || fail "groff complains about the manual"
fi

finish
