#define WB_UNIT complex
#include "templates/unit.hpp"
