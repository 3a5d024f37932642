#define WB_UNIT comparison
#include "templates/unit.hpp"
