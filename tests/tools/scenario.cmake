lockstep_test(scenario_test
  SOURCES scenario_test.cpp
  LIBS lockstep::scenario)

# All of tests/scenarios, four ways; and stories made at random.
lockstep_test(scenario_files_test LABEL system TIMEOUT 900
  SOURCES scenario_files_test.cpp scenario_random_test.cpp
  LIBS lockstep::scenario)
