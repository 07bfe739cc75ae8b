# install.cmake: what `cmake --install` puts where.

install(DIRECTORY include/cutis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS cutis_shared cutis_static EXPORT cutis-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

if(WIN32)
  install(FILES ${CMAKE_BINARY_DIR}/cutis.def DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# CMake package: find_package(cutis) gives cutis::cutis and cutis::cutis_static.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cutis)
install(EXPORT cutis-targets NAMESPACE cutis:: DESTINATION ${package_dir})
configure_package_config_file(cmake/cutis-config.cmake.in ${CMAKE_BINARY_DIR}/cutis-config.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cutis-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cutis-config.cmake ${CMAKE_BINARY_DIR}/cutis-config-version.cmake
        DESTINATION ${package_dir})

# pkg-config; the prefix is relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH CUTIS_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/cutis.pc.in ${CMAKE_BINARY_DIR}/cutis.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cutis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The page of `cutis studio`, where `make studio` has built it.
install(DIRECTORY build/studio DESTINATION ${CMAKE_INSTALL_DATADIR}/cutis OPTIONAL)

if(TARGET cutis)
  install(TARGETS cutis RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# The program prints its own manual page and shell completion, from the tables that its --help uses.
if(TARGET cutis AND NOT CMAKE_CROSSCOMPILING)
  foreach(pair manual:cutis.1 completion:cutis.bash)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 command)
    list(GET pair 1 file)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${file} DEPENDS cutis VERBATIM
                       COMMAND cutis ${command} > ${CMAKE_BINARY_DIR}/${file})
    list(APPEND program_files ${CMAKE_BINARY_DIR}/${file})
  endforeach()
  add_custom_target(cutis_manual ALL DEPENDS ${program_files})
  install(FILES ${CMAKE_BINARY_DIR}/cutis.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${CMAKE_BINARY_DIR}/cutis.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME cutis)
endif()
