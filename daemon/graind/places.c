// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/places.h"

bool places__allow(uid_t uid, size_t of_user, size_t left)
{
	return left && (uid == 0 || of_user < left);
}
