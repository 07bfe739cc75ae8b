# wasm.cmake: the library as WebAssembly, for the npm package in web/cutis. Included by the root in place of libraries
# and program when Emscripten compiles.
#
# Every source is compiled once, with atomic instructions, which a memory that is not shared takes as well, and linked
# for one thread (`cutis`), with shared memory for browsers and for Node (`cutis-threads`, `cutis-threads-node`), without files
# and rigging (`cutis-live`), and as the golden program. No script for browsers names a module of Node: bundlers would fail. Loops over structs get slower by clang's vectoriser of straight code: it stays off.
target_compile_options(cutis_flags INTERFACE -msimd128 -matomics -mbulk-memory -fno-slp-vectorize -Wno-unused-command-line-argument)
# Files, tables, tools, and solvers for bakes are compiled for size. The bits are the same. Code that steps the flesh
# that plays live is compiled for speed even where a step spends little: on a heavy body contact and mesh are a third of the time.
file(GLOB cold RELATIVE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/io/*.c ${PROJECT_SOURCE_DIR}/src/io/*/*.c
     ${PROJECT_SOURCE_DIR}/src/retarget/*.c ${PROJECT_SOURCE_DIR}/src/articulation/*.c ${PROJECT_SOURCE_DIR}/src/grasp/*.c
     ${PROJECT_SOURCE_DIR}/src/rig/*.c ${PROJECT_SOURCE_DIR}/src/distil/*.c
     ${PROJECT_SOURCE_DIR}/src/limbs/*.c ${PROJECT_SOURCE_DIR}/src/measure/*.c ${PROJECT_SOURCE_DIR}/src/zoo/*.c
     ${PROJECT_SOURCE_DIR}/src/solvers/*/*_build.c ${PROJECT_SOURCE_DIR}/src/solvers/*/*_state.c
     ${PROJECT_SOURCE_DIR}/src/solvers/layers/*.c ${PROJECT_SOURCE_DIR}/src/solvers/curves/*.c
     ${PROJECT_SOURCE_DIR}/src/solvers/slide/*.c ${PROJECT_SOURCE_DIR}/src/solvers/springs/*.c
     ${PROJECT_SOURCE_DIR}/src/character/*.c ${PROJECT_SOURCE_DIR}/src/engine/*.c
     ${PROJECT_SOURCE_DIR}/src/body/*.c ${PROJECT_SOURCE_DIR}/src/bake/*.c)
list(REMOVE_ITEM cold character/skinning.c)
list(APPEND cold solvers/flesh.c solvers/flesh_map.c solvers/muscles.c
     solvers/tissue/tissue.c solvers/tissue/tissue_fibres.c solvers/tissue/tissue_friction.c solvers/tissue/tissue_yield.c
     contact/contact_untangle.c
     mesh/near.c mesh/separate.c base/error.c base/memory.c base/text.c show/embedding.c show/volume_restore.c
     mesh/overlap.c mesh/topology.c mesh/weld.c mesh/texel.c mesh/texel_slide.c mesh/wrinkle.c
     solvers/lattice/lattice_adapt.c solvers/lattice/lattice_embed.c solvers/lattice/lattice_graph.c
     solvers/lattice/lattice_layers.c solvers/lattice/lattice_touch.c solvers/lattice/lattice_voxels.c
     solvers/solver_kit.c)
list(TRANSFORM cold PREPEND ${PROJECT_SOURCE_DIR}/src/)
set_source_files_properties(${cold} PROPERTIES COMPILE_OPTIONS -Oz)
find_program(PYTHON3 python3 REQUIRED)
set(WEB ${PROJECT_SOURCE_DIR}/web)
set(GENERATED ${CMAKE_BINARY_DIR}/generated)

# What JavaScript knows of the C interface: layouts of structs, values of enums, names of functions.
add_custom_command(OUTPUT ${GENERATED}/structs.js ${GENERATED}/layout.c
                   COMMAND ${CMAKE_COMMAND} -E make_directory ${GENERATED}
                   COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/scripts/web_structs.py ${PROJECT_SOURCE_DIR}/include/cutis ${GENERATED}
                   DEPENDS ${PROJECT_SOURCE_DIR}/scripts/web_structs.py ${PROJECT_SOURCE_DIR}/scripts/python_structs.py
                           ${PROJECT_SOURCE_DIR}/include/cutis/base.h ${PROJECT_SOURCE_DIR}/include/cutis/character.h
                           ${PROJECT_SOURCE_DIR}/include/cutis/model.h ${PROJECT_SOURCE_DIR}/include/cutis/io.h
                           ${PROJECT_SOURCE_DIR}/include/cutis/measure.h ${PROJECT_SOURCE_DIR}/include/cutis/rig.h
                           ${PROJECT_SOURCE_DIR}/include/cutis/zoo.h ${PROJECT_SOURCE_DIR}/include/cutis/bake.h VERBATIM)
add_library(web_glue OBJECT ${WEB}/glue.c ${GENERATED}/layout.c)
target_link_libraries(web_glue PRIVATE cutis_flags)

set(COMMON -O2 -sWASM_BIGINT=1 -sALLOW_MEMORY_GROWTH=1 -sTOTAL_STACK=4194304 -sINITIAL_MEMORY=33554432
           -sASSERTIONS=0 -sABORTING_MALLOC=0)
set(MODULE -sMODULARIZE=1 -sEXPORT_NAME=createCutis --no-entry)
set(THREADS -sNODEJS_CATCH_EXIT=0 -sNODEJS_CATCH_REJECTION=0 -pthread -Wno-pthreads-mem-growth -sPTHREAD_POOL_SIZE=Module.threads-1 -sMAXIMUM_MEMORY=2147483648)

# web_module(NAME FUNCTIONS OPTIONS...): NAME.js and NAME.wasm with the functions of a generated list. The small module has
# a solver table of its own, so that the linker drops the solvers that it does not list.
function(web_module name functions)
  set(objects $<TARGET_OBJECTS:cutis_objects>)
  if(name STREQUAL cutis-live)
    set(objects $<FILTER:$<TARGET_OBJECTS:cutis_objects>,EXCLUDE,solver_table> ${WEB}/live_solvers.c)
  endif()
  add_executable(${name} ${objects} $<TARGET_OBJECTS:web_glue>)
  target_link_libraries(${name} PRIVATE cutis_flags ${CUTIS_LIBRARIES})
  target_link_options(${name} PRIVATE ${COMMON} ${MODULE} -sEXPORTED_FUNCTIONS=@${GENERATED}/${functions} ${ARGN})
endfunction()
web_module(cutis all.exports -Oz -sENVIRONMENT=web,worker -sEXPORT_ES6=1 -sEXPORTED_RUNTIME_METHODS=FS,wasmMemory -sFORCE_FILESYSTEM=1)
web_module(cutis-live live.exports -Oz -sENVIRONMENT=web,worker -sEXPORT_ES6=1 -sEXPORTED_RUNTIME_METHODS=wasmMemory -sFILESYSTEM=0)
web_module(cutis-threads all.exports -Oz -sENVIRONMENT=web,worker -sEXPORTED_RUNTIME_METHODS=FS,wasmMemory -sFORCE_FILESYSTEM=1
           ${THREADS})
web_module(cutis-threads-node all.exports -Oz -sENVIRONMENT=worker,node -sEXPORTED_RUNTIME_METHODS=FS,wasmMemory -sFORCE_FILESYSTEM=1
           ${THREADS})

# The golden hashes, for Node and for a page, on one thread and on more.
add_executable(golden ${PROJECT_SOURCE_DIR}/tests/golden.c $<TARGET_OBJECTS:cutis_objects>)
target_link_libraries(golden PRIVATE cutis_flags ${CUTIS_LIBRARIES})
target_link_options(golden PRIVATE ${COMMON} -O1 -sENVIRONMENT=web,worker,node -sEXIT_RUNTIME=1 -pthread -Wno-pthreads-mem-growth -sPTHREAD_POOL_SIZE=3
                    -sMAXIMUM_MEMORY=2147483648)
