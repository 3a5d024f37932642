#define WB_UNIT arithmetic
#include "templates/unit.hpp"
