#define WB_UNIT reductions
#include "templates/unit.hpp"
