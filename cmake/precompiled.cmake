# What nearly every file of a layer includes, compiled once: most files cost the compiler less than their headers do.
# The fuzz preset builds without, so that every file still includes what it uses.

# lockstep_precompiled(core HEADERS <a.h> ... LIBS ... OPTIONS ...): for lockstep_library(... PRECOMPILED core).
function(lockstep_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBS;OPTIONS" ${ARGN})
  add_library(lockstep_precompiled_${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  target_link_libraries(lockstep_precompiled_${name} PRIVATE lockstep_options Boost::boost ${ARG_LIBS})
  target_compile_options(lockstep_precompiled_${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(lockstep_precompiled_${name} PRIVATE ${ARG_HEADERS})
endfunction()

lockstep_precompiled(events HEADERS <algorithm> <events/commands.h> <events/events.h> <events/walk.h>)
lockstep_precompiled(core HEADERS <algorithm> <statemachine/state.h>)
lockstep_precompiled(tools
  HEADERS <algorithm> <events/commands.h> <fmt/format.h> <nlohmann/json.hpp> <statemachine/state.h>
  LIBS fmt::fmt nlohmann_json::nlohmann_json)
if(LOCKSTEP_TESTS)
  # The tests' own code need not be fast, only compile fast; what they test keeps its preset's options.
  set(LOCKSTEP_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)
  if(LOCKSTEP_SANITIZE MATCHES "undefined")
    list(APPEND LOCKSTEP_TEST_OPTIONS -fno-sanitize=undefined)
  endif()
  lockstep_precompiled(tests
    HEADERS <gmock/gmock.h> <gtest/gtest.h> <statemachine/state.h>
    LIBS GTest::gtest GTest::gmock OPTIONS ${LOCKSTEP_TEST_OPTIONS})
endif()
