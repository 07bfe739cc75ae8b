# arm64.cmake: toolchain file for 64-bit ARM Linux by Debian's cross compiler; tests run under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;/usr/aarch64-linux-gnu)
set(CUTIS_CROSS_NAME arm64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
