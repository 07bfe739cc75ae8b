#!/bin/sh
# test_readme_commands.sh PROGRAM: the commands that the README lists run, on characters that every clone has, and the
# figures of its table that `make demo` prints hold.
. "$(dirname "$0")/shell.sh"

# the files that the README speaks of
"$program" make man --resolution 0.3 -o hero.glb >/dev/null
"$program" make man --resolution 0.3 -o statue.obj >/dev/null
cp hero.glb hero.fbx.glb
cat >walk.bvh <<'END'
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
for angle in 0 20 40 20 0; do echo "0 0 0 $angle" >>walk.bvh; done
echo '{"jobs": [{"input": "hero.glb", "output": "one.npy", "solver": "lbs"}]}' >jobs.json

# Each line of the block, up to its comment. No .fbx is in the repository, and the page and the benchmarks have tests of
# their own; few frames are enough.
sed -n '/^cutis models /,/^```/p' "$root/README.md" | sed 's/   .*//; s/^cutis //; /^```/d' >commands
same "$(grep -c . commands)" 18 "commands in the README"
while read -r line; do
    case $line in
    studio* | bench*) continue ;;
    convert*) line="convert hero.fbx.glb converted.glb" ;;
    bake*) line="$line --fps 5" ;;
    compare*) line="compare arm --clip flex --solvers lbs,dqs,tissue,layers -o compared" ;; # "out" is where this script writes
    grasp*) line="$line --plan" ;;
    distil*) line="$line --solver lattice --poses 16 --points 60" ;;
    measure*) "$program" bake arm --clip flex --solver lbs --fps 5 -o arm.pc2 -q ;;
    esac
    run 0 $line
done <commands
for file in arm.glb converted.glb hero_flesh.glb walk.glb grasp.glb man.glb compared/index.html one.npy statue.glb can.glb arm_live.glb arm.png; do
    written "$file"
done

# the flexed arm: volume, with overlaps counted once, and pairs of triangles that cross
tells compared/compare.json "[round(100 * r['solvers'][s]['quality']['volume_error_max'], 1) for s in ('lbs', 'dqs')] == [3.4, 2.0]"
tells compared/compare.json "[round(100 * r['solvers'][s]['quality']['volume_union'], 1) for s in ('lbs', 'dqs')] == [8.9, 5.9]"
tells compared/compare.json "100 * r['solvers']['tissue']['quality']['volume_error_max'] < 2"
tells compared/compare.json "r['solvers']['tissue']['quality']['self_intersections_max'] == 0"
tells compared/compare.json "100 * r['solvers']['layers']['quality']['volume_error_max'] < 0.05"
tells compared/compare.json "100 * r['solvers']['layers']['quality']['volume_union'] < 0.2"
tells compared/compare.json "[r['solvers'][s]['quality']['self_intersections_max'] for s in ('lbs', 'dqs', 'layers')] == [168, 163, 0]"

# a bare mesh got a skeleton, the motion of the file and flesh
run 0 info walk.glb
shows "upper_arm_l"
shows "^  walk "
finish
