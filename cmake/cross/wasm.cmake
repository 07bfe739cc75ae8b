# wasm.cmake: toolchain file for WebAssembly by Debian's Emscripten; tests run in Node and in Chromium.
set(ENV{NODE_PATH} /usr/share/nodejs) # where Debian keeps what Emscripten's own scripts need
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
set(CUTIS_CROSS_NAME wasm)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
