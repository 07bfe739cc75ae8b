#!/bin/sh
# mutants.sh [NAME...]: break the code on purpose, one place at a time, and see that a test fails. All mutants, or those named.
#
# A mutant is one line of the list below: name | file | sed script | test programs. The sources are copied to
# build/mutants, each mutant is put in by sed, the tests are built and run, and the file is put back. A mutant that changes
# nothing, does not compile or leaves all its tests green makes the exit code 1. Takes about a minute for each; run it by
# hand after changing a solver or its tests, not in `make test`.
set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD/build/mutants
mkdir -p "$top/tree"
git ls-files -z | tar -c --null -T - | tar -x -C "$top/tree" || exit 1
cd "$top" || exit 1
cmake -S tree -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O2 -DCUTIS_TESTS=ON -DCUTIS_MATRIX=OFF \
    >configure.log 2>&1 || { tail -5 configure.log; exit 1; }

list() {
    cat <<'END'
layers-divergence | src/solvers/layers/layers_volume.c | /^void layers_volume_velocity/,/^}/s/parallel_for(jobs, point_count.*// | test_layers_physics
layers-apart | src/solvers/layers/layers_limits.h | s/APART_SWEEPS, 24/APART_SWEEPS, 0/ | test_layers_physics
layers-balloon | src/solvers/layers/layers_volume.c | s/task->values\[v->point_volumes\[s\]\]/task->values[0]/ | test_layers_physics
layers-fans | src/solvers/layers/layers_pieces.c | s/m->point_count + centre_of(&c, from)/m->point_count/ | test_layers_physics
layers-late-contact | src/solvers/layers/layers.c | s/if (run->active_count > 0) layers_contacts_project(run);// | test_layers_physics
layers-home-last | src/solvers/layers/layers.c | s/if (sound && !run->walking) layers_home_slow(run);//; s/\/\* no impacts on the way.*/if (sound \&\& !run->walking) layers_home_slow(run);/ | test_layers_physics
layers-prop-friction | src/solvers/layers/layers_velocity.c | s/if (run->w.planes\[i\].lambda > 0) plane_rub/if (0) plane_rub/ | test_layers_physics
layers-prop-bounce | src/solvers/layers/layers_velocity.c | s/plane->normal, MAX(normal, wanted))/plane->normal, normal + 0 * wanted)/ | test_layers_physics
layers-moments | src/solvers/layers/layers_build.c | s/masses\[i\] \* 0.2f \*/masses[i] * 0.0f */ | test_layers_physics test_layers
layers-columns | src/solvers/layers/layers_columns.c | s/off\[l\] = -h2 \* springs\[l\]/off[l] = h2 * springs[l]/ | test_layers
layers-chebyshev | src/solvers/layers/layers_limits.h | s/CHEBYSHEV_RADIUS, 0.8f/CHEBYSHEV_RADIUS, 1.1f/ | test_layers
layers-prefix-sums | src/solvers/layers/layers_match.c | s/v_store(terms\[9 + row\] + lane, d);/v_store(terms[9 + row] + lane, 0 * d);/ | test_layers
layers-no-resolve | src/solvers/layers/layers.c | s/bool failed = sound \&\& layers_contacts_resolve(run, &zone_points);/bool failed = false;/ | test_layers
layers-parts | src/solvers/layers/layers_limits.h | s/PARTS_LIMIT, 8/PARTS_LIMIT, 1/ | test_layers
layers-recovery | src/solvers/layers/layers_recovery.c | s/layers_yield_update(run);/*run->s.recovering = 1;/ | test_layers
lead-in-arc | src/character/pose.c | s/turn, share \* calm \* turn.w \* turn.w)/turn, share * calm)/ | test_character
lead-in-jump | src/character/pose.c | s/float calm = (float)(1/float calm = 1 + 0 * (float)(1/ | test_character
layers-gravity | src/solvers/layers/layers_velocity.c | s/return vec3_sub(down, skinning_direction(.*/return down;/ | test_layers
layers-fibres | src/solvers/layers/layers_fibres.c | s/side = 0.5f + 0.5f \* cosine/side = 0.5f - 0.5f * cosine/ | test_layers
contact-friction | src/contact/contact_pair.c | s/MIN(friction \* impulse, speed)/0 * MIN(friction * impulse, speed)/ | test_layers_physics
contact-restitution | src/contact/contact_pair.c | s/-restitution \* approach : 0/0 * restitution : 0/ | test_layers_physics
contact-pull | src/contact/contact_pair.c | s/float next = MAX(pair->lambda - value \/ mass, 0);/float next = pair->lambda - value \/ mass;/ | test_contact
contact-motion | src/contact/contact_search.c | s/return (room > 0) \& (left > 0);/return (room > 0) \& (left > -1e9f);/ | test_contact
contact-near | src/contact/contact_search.c | s/ + v_sqrt(moved2);/;/ | test_contact
contact-flat | src/contact/contact_search.c | s/return rounds == 1;/return true;/ | test_contact
tissue-shear | src/solvers/tissue/tissue_build.c | s/sum += table->modulus\[at\] \* table->rest/sum -= table->modulus[at] * table->rest/ | test_tissue
tissue-volume | src/solvers/tissue/tissue_cells.c | s/vfloat pressure = bulk \* (half \* (a.volume + b.volume) - target)/vfloat pressure = bulk * (target - half * (a.volume + b.volume))/ | test_tissue
tissue-dilatation | src/solvers/tissue/tissue_build.c | s/values\[1\] = (1 + modulus \/ bulk)/values[1] = (1 - modulus \/ bulk)/ | test_tissue
tissue-planes | src/solvers/tissue/tissue_cells.c | s/vfloat twist = inner \* (half \* (a.volume - b.volume) - difference)/vfloat twist = inner * (difference - half * (a.volume - b.volume))/ | test_tissue
tissue-heights | src/solvers/tissue/tissue_cells.c | s/v3_dot(normal, first) - v_load(rest)/v_load(rest) - v3_dot(normal, first)/ | test_tissue
tissue-heights-others | src/solvers/tissue/tissue_cells.c | s/v3_dot(normal, second) - v_load(rest + LANES)/v_load(rest + LANES) - v3_dot(normal, second)/ | test_tissue
tissue-bone | src/solvers/tissue/tissue_drive.c | s/(double)m->bone_springs\[k\] : 0/-(double)m->bone_springs[k] : 0/ | test_tissue
tissue-inertia | src/solvers/tissue/tissue_drive.c | s/\*pull = x0 - ((1 - t->am) \* a_fixed/*pull = x0 + ((1 - t->am) * a_fixed/ | test_tissue
tissue-damping | src/solvers/tissue/tissue_drive.c | s/+ c \* slip - outer/- c * slip - outer/ | test_tissue
tissue-gravity | src/solvers/tissue/tissue_drive.c | s/vec3 down = {0, -run->m->gravity, 0}/vec3 down = {0, -run->m->gravity * run->m->size, 0}/ | test_tissue
tissue-colours | src/solvers/tissue/tissue_build.c | s/while (colour < 4095 \&\& .*;/colour = p % 2;/ | test_tissue
tissue-column | src/solvers/tissue/tissue_cells.c | s/s->gradient\[l - 1\] = v3_sub(s->gradient\[l - 1\], mat_vector/s->gradient[l - 1] = v3_add(s->gradient[l - 1], mat_vector/ | test_tissue
tissue-column-back | src/solvers/tissue/tissue_cells.c | s/v3_add(s->gradient\[l\], mat_transposed_vector/v3_sub(s->gradient[l], mat_transposed_vector/ | test_tissue
tissue-acceleration | src/solvers/tissue/tissue_accelerate.c | s/if (iteration > 0 \&\& !(w->norm2 <= before))/if (iteration > 0 \&\& !(w->norm2 <= 1e9 * before))/ | test_tissue
tissue-contact | src/solvers/tissue/tissue_contact.c | s/base->normal, -force \* w)/base->normal, force * w)/ | test_tissue
tissue-teleport | src/solvers/tissue/tissue_state.c | s/vec3 d = mat3_vector(turn, \(.*\));$/vec3 d = \1;/ | test_tissue
articulation-inertia | src/articulation/articulation.c | s/s->pull\[3 \* i + r\] += linear \* rows\[k\]\[r\] \* way +/s->pull[3 * i + r] += linear * rows[k][r] * 0.5 * way +/ | test_articulation
articulation-held | src/articulation/articulation.c | s/held \* m->held.way\[k\] + (1 - held) \* m->falling.way\[k\]/m->held.way[k]/ | test_articulation
articulation-drift | src/articulation/articulation.c | s/own->place\[k\] - m->place\[k\] + h \* h/h * h/ | test_articulation
articulation-push | src/articulation/articulation.c | s/s->gradient\[i\] -= rate2/s->gradient[i] += rate2/ | test_articulation
articulation-spring | src/articulation/articulation.c | s/scale \* (damping \* step\[k\] + RATE \* RATE \* (1 + t2) \* theta\[k\])/scale * damping * step[k]/ | test_articulation
articulation-damping | src/articulation/articulation.c | s/DAMPING = 2;/DAMPING = 0;/ | test_articulation
articulation-opposite | src/articulation/articulation_contact.c | s/s->sums\[link\]\[i\] -= own\[i\]/s->sums[link][i] -= 0.5 * own[i]/ | test_articulation
articulation-lift | src/articulation/articulation_contact.c | s/shift\[1\] = corner ? 0 : (double)normal.y;/shift[1] = 0;/ | test_articulation
articulation-limit | src/articulation/articulation_contact.c | s/MAX(limit->largest, given) - own,/LIMIT_SCALE,/ | test_articulation
articulation-potential | src/articulation/articulation_contact.c | s/\*first = d2 + 4 \* d2 \* d2/*first = 0.05 * d2/ | test_articulation
articulation-carried | src/articulation/articulation.c | s/if (!articulation_carries(a, s->active\[j\], l)) continue;/if (j < i) continue;/ | test_articulation
articulation-teleport | src/articulation/articulation.c | s/own->place\[k\] = (double)move.m\[4 \* k\] \* x\[0\]/own->place[k] = x[0]/ | test_articulation
joints-nodes | src/io/gltf/gltf_bake.c | s/return e->generated ? joint : e->reader/return e->reader/ | test_bake_glb
joints-shift | src/bake/morphs_save.c | s/if (changed\[i\])/if (changed[i] \&\& i == 0)/ | test_bake_glb
lattice-sums | src/solvers/lattice/lattice_sweep.c | s/sum->b -= term.b;/sum->b += term.b;/ | test_lattice
lattice-identity | src/solvers/lattice/lattice_match.c | s/r.m\[i\] - v_set(1)/r.m[i] - v_set(0.9f)/ | test_lattice
springs-pull | src/solvers/springs/springs_contact.c | s/float next = MAX(\(c->lambda - .*\), 0.0f);/float next = \1;/ | test_springs
springs-gap | src/solvers/springs/springs_contact.c | s/vec3_dot(c->normal, d) - c->gap;/vec3_dot(c->normal, d) + c->gap;/ | test_springs
springs-guard | src/solvers/springs/springs_guard.c | s/if (share >= CRUSHED) return false;/return false;/ | test_springs_soft
springs-bulge | src/solvers/springs/springs_bulge.c | s/bulge\[q\] += volume/bulge[q] += 0 * volume/ | test_springs_scenes
springs-fold | src/solvers/springs/springs_force.c | s/ds = g.sine - sine,/ds = v_select(v_less(g.sine, v_set(0)), v_set(2), v_set(0)),/ | test_springs
springs-bone | src/solvers/springs/springs_force.c | s/k \* (1 + grown) \* ends/k * (1 + grown)/ | test_springs_scenes
springs-tolerance | src/solvers/springs/springs_force.c | s/k \* MAX(k, \(.*\) \/ STIFFEST)/16 * k * (\1)/ | test_springs
slide-gradient | src/solvers/slide/slide_material.c | s/out->gradient\[k\]\[1\] = scale/out->gradient[k][1] = -scale/ | test_slide
slide-inertia | src/solvers/slide/slide_system.c | s/p->s->masses\[m->point_triangles\[n\]\] \* d4_load/2 * p->s->masses[m->point_triangles[n]] * d4_load/ | test_slide_motion
slide-wrinkle | src/mesh/wrinkle.c | s/double amplitude = 2 \* sqrt/double amplitude = 3 * sqrt/ | test_slide_texture
slide-aim | src/solvers/slide/slide_output.c | s/int from = (k + 1) % 3/int from = (k + 2) % 3/ | test_slide_texture
slide-tolerance | src/solvers/slide/slide_build.c | s/solve_tolerance = 3e-4/solve_tolerance = 3e-2/ | test_slide_motion
slide-border | src/mesh/texel.c | s/memcpy(q\[next3(l)\], p\[next3(next3(k))\]/memcpy(q[next3(l)], p[next3(k)]/ | test_slide_texture
body-orient | src/body/solid.c | s/winding_tree_build(&w->tree, w->def, flips,/winding_tree_build(\&w->tree, w->def, NULL,/ | test_body
show-volume | src/show/volume_restore.c | s/part \* lost \/ slopes/0.7 * part * lost \/ slopes/ | test_volume_restore
rig-twin | src/rig/fit.c | s/SAME_SIDES = 0.97f/SAME_SIDES = 1.97f/ | test_rig_shapes
rig-hem | src/rig/fit_biped.c | s/return CLAMP(above \/ .*;/return 0 * above * below;/ | test_rig_shapes
rig-things | src/rig/fit_things.c | s/TWIN = 0.5f/TWIN = 0/ | test_rig_shapes
rig-grown | src/rig/fit_biped.c | s/if (below < 0.22f .*/if (below + trunk > 0) return false;/ | test_rig_shapes
rig-robe | src/rig/fit_biped.c | s/bool robe = upright_trunk .*/bool robe = false \&\& skirt_find(b, chest, pelvis, 1);/ | test_rig_shapes
rig-gap | src/rig/fit.h | s/_GAP 0.0[58]f/_GAP -1.0f/; s/FIT_SURE 0.74f/FIT_SURE 0.6f/ | test_rig_shapes
rig-blocks | src/rig/fit_blocks.c | s/if (turn < 1e-3f) turn += 6.2831853f;/if (turn < 0) turn += 6.2831853f;/ | test_rig_blocks
rig-digits | src/character/joint_parts.c | s/parts\[above\].kind < first/parts[above].kind < 0/ | test_joint_parts
rig-sides | src/rig/sides.c | s/share = t \* t \* (3 - 2 \* t);/share = 1;/ | test_rig_turned_models
rig-rays | src/limbs/ray_test.c | s/return most - least;/return least - most;/ | test_rig_curves
body-relax | src/body/remesh.c | s/^\( *\)flip_pass(&m);/\1/ | test_body
END
}

status=0
list >list.txt
while IFS='|' read -r name file script tests; do
    name=$(echo $name) file=$(echo $file) tests=$(echo $tests)
    script=$(printf '%s' "$script" | sed 's/^ //; s/ $//')
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    cp "tree/$file" kept
    sed -i "$script" "tree/$file"
    if cmp -s kept "tree/$file"; then
        echo "$name: CHANGES NOTHING" && status=1
        continue
    fi
    result=SURVIVED
    if ninja -C build $tests >build.log 2>&1; then
        for test in $tests; do
            if ! timeout 300 "build/bin/$test" >"$name.log" 2>&1; then
                failed=$(sed -n 's/^\[  FAILED  \] \([a-z_0-9]*\)$/\1/p' "$name.log" | sort -u | paste -sd ' ' -)
                result="killed by $test${failed:+: $failed}"
                break
            fi
        done
    else
        result="DOES NOT COMPILE"
    fi
    cp kept "tree/$file"
    echo "$name: $result"
    case $result in killed*) ;; *) status=1 ;; esac
done <list.txt
exit $status
