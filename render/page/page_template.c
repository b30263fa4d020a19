/* SPDX-License-Identifier: BSD-2-Clause */
/* The page without its data. The build makes it from ui/. */
#include "render/page/page.h"

__asm__(".section .rodata\n"
	".global page_template\n"
	".type page_template, %object\n"
	"page_template:\n"
	".incbin \"render/page.html\"\n"
	".byte 0\n"
	".size page_template, . - page_template\n"
	".previous\n");
