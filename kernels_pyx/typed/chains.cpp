#define WB_UNIT chains
#include "unit.hpp"
