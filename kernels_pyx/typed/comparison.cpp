#define WB_UNIT comparison
#include "unit.hpp"
