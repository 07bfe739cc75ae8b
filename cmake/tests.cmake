# tests.cmake: all tests, for ctest. They run in the source root.
#
# Labels, which choose what runs where:
#   unit     one program for each tests/test_NAME.c
#   golden   results are those of tests/golden.txt
#   slow     those that say "ctest: slow" in a comment or are called test_*_figures, _scenes, _speed or _models: not run
#            by `make check` nor again under the sanitizers; those of speed run alone
#   program  tests/test_NAME.sh: scripts that try the cutis program
#   project  checks of the source tree and of the built library
#   matrix   builds with other compilers, options and sanitizers (only with CUTIS_MATRIX)

# A cross build has the golden program alone.
if(NOT CMAKE_CROSSCOMPILING)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
  file(GLOB CUTIS_TEST_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/test_*.c)
endif()
foreach(source ${CUTIS_TEST_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE cutis_flags cutis_private PkgConfig::CMOCKA Threads::Threads m)
  target_compile_options(${name} PRIVATE -O1) # half the time of -O3; what is measured is the library
  target_compile_definitions(${name} PRIVATE ${CUTIS_DEFINITIONS})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set(labels unit)
  file(STRINGS ${source} marks REGEX "ctest: slow")
  if(marks OR name MATCHES "_(figures|scenes|speed|models)$")
    list(APPEND labels slow)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 1200)
  if(name MATCHES "_speed$")
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()

# A check that is a script: add_check(NAME LABEL COMMAND...). Exit code 77 means skipped.
function(add_check name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT 1800)
endfunction()

find_program(PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(PYTHON3 python3 REQUIRED)

if(CUTIS_SANITIZE STREQUAL "")
  add_check(check_layers project ${PYTHON3} scripts/check_layers.py)
  add_check(check_headers project sh tests/check_headers.sh)
  add_check(check_symbols project sh tests/check_symbols.sh $<TARGET_FILE:cutis_shared> $<TARGET_FILE:cutis_static>
            $<TARGET_FILE:cutis_private>)
  add_check(check_readme project ${PYTHON3} tests/check_readme.py)
endif()

# Golden hashes: one program that prints a hash for each scene. Two threads run under ASan, three under TSan too.
add_executable(golden tests/golden.c)
target_link_libraries(golden PRIVATE cutis_flags cutis_private)
add_check(golden_1 golden sh tests/check_golden.sh $<TARGET_FILE:golden> 1)
add_check(golden_2 unit sh tests/check_golden.sh $<TARGET_FILE:golden> 2)
add_check(golden_3 golden sh tests/check_golden.sh $<TARGET_FILE:golden> 3)

if(TARGET cutis)
  # The program with a table of solvers that holds one more. Its table comes before the library's.
  file(GLOB CUTIS_TOY_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/toy_solver/*.c)
  add_executable(cutis_toy $<TARGET_OBJECTS:cutis_program> ${CUTIS_TOY_SOURCES})
  target_link_libraries(cutis_toy PRIVATE ${CUTIS_PROGRAM_LIBRARIES})

  # Scripts that try the program; each works in a temporary folder of its own.
  file(GLOB CUTIS_TEST_SCRIPTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/test_*.sh)
  foreach(script ${CUTIS_TEST_SCRIPTS})
    get_filename_component(name ${script} NAME_WE)
    add_check(${name} program sh ${script} $<TARGET_FILE:cutis>)
    file(STRINGS ${script} marks REGEX "ctest: slow")
    if(marks)
      set_tests_properties(${name} PROPERTIES LABELS "program;slow")
    endif()
  endforeach()
endif()

# Builds of the whole project in other ways. Each takes one core, so that ctest shares the machine between them; the
# longest start first. The sanitizers double as variants: ASan is built by clang -O1, TSan by gcc -O1, and both check the
# golden hashes.
if(CUTIS_MATRIX)
  # Of the scripts, those that read files and mistyped options: the others run the same code on larger characters.
  add_check(asan matrix sh tests/sanitize.sh asan -L "unit|program" -LE slow
            -E "import|toy|valid|render|slide_cli|odd_files")
  # Under ThreadSanitizer a solver's own tests take minutes each; the golden scenes run every solver on three threads.
  add_check(tsan matrix sh tests/sanitize.sh tsan -R "^(test_base|test_contact|test_measure|golden_3)$")
  foreach(variant clang-O3 scalar sse2) # gcc -O3 is the release build itself
    add_check(golden_${variant} matrix sh tests/matrix.sh ${CMAKE_BINARY_DIR} ${variant})
    set_tests_properties(golden_${variant} PROPERTIES COST 1000)
  endforeach()
  add_check(clang_warnings matrix ${PYTHON3} tests/clang_warnings.py ${CMAKE_BINARY_DIR})
  add_check(windows matrix sh tests/windows.sh ${CMAKE_BINARY_DIR})
  add_check(arm64 matrix sh tests/arm64.sh ${CMAKE_BINARY_DIR})
  add_check(farm matrix sh tests/farm.sh $<TARGET_FILE:cutis>)
  add_check(dist matrix sh tests/dist.sh ${CMAKE_BINARY_DIR})
  add_check(web matrix sh tests/web.sh ${CMAKE_BINARY_DIR})
  add_check(check_install matrix sh tests/check_install.sh ${CMAKE_BINARY_DIR})
  set_tests_properties(asan PROPERTIES COST 3000)
  set_tests_properties(web PROPERTIES COST 2500)
  set_tests_properties(tsan PROPERTIES COST 2000)
endif()

# The Python package as it is installed, from a staged copy of it.
if(CUTIS_SANITIZE STREQUAL "" AND CUTIS_IO AND NOT CMAKE_CROSSCOMPILING)
  add_custom_target(cutis_python ALL DEPENDS cutis_shared
                    COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/scripts/python_stage.py
                            ${CMAKE_BINARY_DIR}/libcutis.so ${CMAKE_BINARY_DIR}/python VERBATIM)
  add_check(test_python program ${CMAKE_COMMAND} -E env PYTHONPATH=${CMAKE_BINARY_DIR}/python PYTHONDONTWRITEBYTECODE=1
            ${PYTHON3} tests/test_python.py)
endif()
