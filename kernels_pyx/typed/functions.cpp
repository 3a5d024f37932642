#include "functions.hpp"
#define WB_UNIT functions
#include "unit.hpp"
