#define WB_UNIT reductions
#include "unit.hpp"
