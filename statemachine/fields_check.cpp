// Fails to compile when a struct of this folder has a field that its LOCKSTEP_FIELDS does not name.
#define LOCKSTEP_CHECK_FIELDS

#include "statemachine/state.h"
