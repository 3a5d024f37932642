#define WB_UNIT chains
#include "templates/unit.hpp"
