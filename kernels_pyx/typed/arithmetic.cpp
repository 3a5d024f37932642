#define WB_UNIT arithmetic
#include "unit.hpp"
