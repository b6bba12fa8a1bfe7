# SPDX-License-Identifier: Apache-2.0
#
# The one place where compiler options of our own code are set.
#
#   cxltier_library(NAME CORE|HOSTED SOURCES...)   a static archive
#   cxltier_options(TARGET CORE|HOSTED)            the same options for a target made otherwise
#   cxltier_batches(TARGET)                        its sources are compiled several at a time
#
# CORE is what ends up in a preloaded process: position independent, no exceptions, no RTTI, no
# thread-safe statics, nothing of libstdc++ at run time.  HOSTED is free: CLI, tests, benches.
include(GNUInstallDirs)

function(cxltier_options target world)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wconversion -Wshadow -Wpedantic -ffp-contract=off -fno-omit-frame-pointer
    $<$<BOOL:${CXLTIER_WERROR}>:-Werror>)
  set(check_levels always debug slow)
  list(FIND check_levels "${CXLTIER_CHECKS}" check_level)
  target_compile_definitions(${target} PRIVATE CXLTIER_CHECK_LEVEL=${check_level})
  if(world STREQUAL "CORE")
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti;-fno-threadsafe-statics>
      -U_GLIBCXX_ASSERTIONS)
  elseif(NOT world STREQUAL "HOSTED")
    message(FATAL_ERROR "cxltier_options(${target}): world is CORE or HOSTED, not '${world}'")
  endif()
  if(CXLTIER_SANITIZE)
    # vptr checks need RTTI, which CORE classes do not have.
    target_compile_options(${target} PRIVATE -fsanitize=${CXLTIER_SANITIZE} -fno-sanitize=vptr)
    target_link_options(${target} PUBLIC -fsanitize=${CXLTIER_SANITIZE})
    if(CXLTIER_FUZZ)
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=all)
    endif()
  endif()
endfunction()

function(cxltier_library name world)
  add_library(${name} STATIC ${ARGN})
  cxltier_options(${name} ${world})
endfunction()

# For targets whose headers (CLI11, nlohmann/json, fmt) cost more to compile than their sources: in
# batches a third of the time.  What a source has in its unnamed namespace needs a name of its own.
function(cxltier_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 7)
endfunction()
