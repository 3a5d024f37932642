#include "templates/functions.hpp"
#define WB_UNIT functions
#include "templates/unit.hpp"
