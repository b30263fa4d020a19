#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The short form of hostile/load.sh: one user only works. The other one's recorded programs fork, come and go, while
# he holds locks and stops workers. With all attacks at once, some seconds have too few requests for a judgement.
exec bash "$(dirname "$0")/load.sh" "$1" 6 fork_storm locks stopped_workers short_lives
