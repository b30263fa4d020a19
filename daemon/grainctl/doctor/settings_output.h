/* SPDX-License-Identifier: BSD-2-Clause */
/* What `doctor PID` says of the settings of a process. */
#ifndef GRAINCTL_SETTINGS_OUTPUT_H
#define GRAINCTL_SETTINGS_OUTPUT_H

#include "daemon/common/settings/settings.h"
#include "daemon/grainctl/terminal/ctl.h"

#include <jansson.h>

void settings_output__print(const struct ctl *ctl, const struct settings_facts *facts);
json_t *settings_output__json(const struct settings_facts *facts); /* NULL: no memory */

#endif
