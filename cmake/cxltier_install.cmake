# SPDX-License-Identifier: Apache-2.0
#
# What a program needs to be built with cxltier: two libraries, headers, and how to find them.
#
#   find_package(cxltier)  ->  cxltier::cxltier       thin client; hints work where the core is
#                              cxltier::core          client and core: one heap for the program
#   pkg-config cxltier         client and core        cxltier-client: the client alone
if(NOT TARGET cxltier_preload)
  return()
endif()
include(CMakePackageConfigHelpers)

install(TARGETS cxltier_preload cxltier_client
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries)
install(FILES
  "${PROJECT_SOURCE_DIR}/allocator/include/cxltier/alloc.h"
  "${PROJECT_SOURCE_DIR}/allocator/include/cxltier/allocator.hpp"
  "${PROJECT_SOURCE_DIR}/allocator/include/cxltier/memory_resource.hpp"
  "${PROJECT_SOURCE_DIR}/runtime/include/cxltier/cxltier.h"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cxltier COMPONENT libraries)

foreach(package cxltier cxltier-client)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in"
    "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libraries)
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cxltier)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/cxltier-config.cmake.in"
  "${PROJECT_BINARY_DIR}/cxltier-config.cmake"
  INSTALL_DESTINATION ${package_folder}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cxltier-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cxltier-config.cmake"
  "${PROJECT_BINARY_DIR}/cxltier-config-version.cmake"
  DESTINATION ${package_folder} COMPONENT libraries)
