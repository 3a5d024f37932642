#define WB_UNIT narrow
#include "templates/unit.hpp"
