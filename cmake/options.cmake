# Flags live on one interface target; nothing is global.
option(LOCKSTEP_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(LOCKSTEP_BENCH "Build the benchmarks" ON)
option(LOCKSTEP_FUZZ "Build the fuzz targets (clang)" OFF)
set(LOCKSTEP_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

find_program(LOCKSTEP_CCACHE ccache)
if(LOCKSTEP_CCACHE)
  # The two sloppinesses are what ccache asks for before it caches users of a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${LOCKSTEP_CCACHE})
endif()

add_library(lockstep_options INTERFACE)
target_compile_features(lockstep_options INTERFACE cxx_std_20)
target_include_directories(lockstep_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(lockstep_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-align -Woverloaded-virtual
  -Wconversion -Wsign-conversion -Wnull-dereference -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough)
# Boost.PFR builds structs with fewer initialisers than fields to count them.
target_compile_options(lockstep_options INTERFACE -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside the standard library at -O2 and above (gcc bugs 105329, 105762, 108165).
  target_compile_options(lockstep_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds
    -Wno-null-dereference -Wno-maybe-uninitialized)
endif()
target_link_options(lockstep_options INTERFACE -fuse-ld=lld)
if(LOCKSTEP_SANITIZE)
  target_compile_options(lockstep_options INTERFACE -fsanitize=${LOCKSTEP_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(lockstep_options INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
  if(LOCKSTEP_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(lockstep_options INTERFACE -Wno-tsan)  # Asio has fences, which the sanitizer does not see
  endif()
  if(LOCKSTEP_SANITIZE MATCHES "undefined")
    # What a null pointer or a wrong vtable leads to, the address sanitizer stops as well, for half the compile time.
    target_compile_options(lockstep_options INTERFACE -fno-sanitize-recover=undefined -fno-sanitize=null,vptr)
  endif()
endif()
if(LOCKSTEP_FUZZ)
  target_compile_options(lockstep_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# A library of one folder: lockstep_library(events PRECOMPILED events SOURCES a.cpp b.cpp PUBLIC libs PRIVATE libs)
function(lockstep_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(lockstep_${name} STATIC ${ARG_SOURCES})
  add_library(lockstep::${name} ALIAS lockstep_${name})
  target_link_libraries(lockstep_${name} PUBLIC lockstep_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(ARG_PRECOMPILED)
    target_precompile_headers(lockstep_${name} REUSE_FROM lockstep_precompiled_${ARG_PRECOMPILED})
  endif()
endfunction()
