# win64.cmake: toolchain file for Windows (x86-64) by mingw-w64; tests run under wine. Everything but the system's own
# libraries is linked into cutis.exe and cutis.dll.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
set(CUTIS_CROSS_NAME win64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
# No time stamps: two builds give the same bytes.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -s -Wl,--no-insert-timestamp")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static -s -Wl,--no-insert-timestamp")
