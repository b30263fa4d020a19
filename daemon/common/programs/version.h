/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_VERSION_H
#define GRAIND_VERSION_H
#define GRAIND_VERSION "0.1.0"
#endif
