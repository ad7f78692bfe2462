lockstep_test(scenario_test
  SOURCES scenario_test.cpp
  LIBS lockstep::scenario
  TIMEOUT 600)
