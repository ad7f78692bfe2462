// Fails to compile when a struct of this folder has a field that its LOCKSTEP_FIELDS does not name.
#define LOCKSTEP_CHECK_FIELDS

#include "events/commands.h"
#include "events/events.h"
#include "events/spec.h"
