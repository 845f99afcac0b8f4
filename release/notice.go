package main

import (
	"fmt"
	"strings"
)

// noticeHead is what NOTICE says before the list of parts.
const noticeHead = `Quarry
Copyright 2026 The Quarry authors

Licensed under the Apache License, Version 2.0; the text is in LICENSE.

The program contains the works below. An archive of a release has the licence of each in its folder licences/. The table
of word frequencies in the program was counted by us in the vocabulary of the encoder (Apache-2.0), abstracts of PubMedQA
(MIT) and SciFact (ODC-By 1.0), and the Win32 documentation of Microsoft (CC BY 4.0); it holds numbers, not texts.

`

// notice returns the file NOTICE.
func notice(parts []part) string {
	var out strings.Builder
	out.WriteString(noticeHead)
	for _, p := range parts {
		fmt.Fprintf(&out, "%-46s %-42s %s\n", p.name, p.version, p.licence)
	}
	return out.String()
}
