package main

import "strings"

// read holds what a person read where the files name more licences than the program falls under: those of what only the
// module's own tests use. "blessing" is SPDX's name for the dedication of SQLite to the public domain.
var read = map[string]string{
	"modernc.org/sqlite": "BSD-3-Clause AND blessing",
	"modernc.org/libc":   "BSD-3-Clause AND MIT", // MIT: musl and others that it was translated from
}

// licences returns the SPDX identifiers of the licences that a text contains, by sentences that only they have.
func licences(text string) (all []string) {
	t := strings.ToLower(strings.Join(strings.Fields(text), " "))
	has := func(s string) bool { return strings.Contains(t, s) }
	if has("apache license") && has("version 2.0") {
		all = append(all, "Apache-2.0")
	}
	if has("permission is hereby granted, free of charge, to any person obtaining a copy") {
		all = append(all, "MIT")
	}
	if has("permission to use, copy, modify, and/or distribute this software for any purpose") ||
		has("permission to use, copy, modify, and distribute this software for any purpose") {
		all = append(all, "ISC")
	}
	if has("redistribution and use in source and binary forms") {
		if has("neither the name") || has("may not be used to endorse") || has("may be used to endorse") {
			all = append(all, "BSD-3-Clause")
		} else {
			all = append(all, "BSD-2-Clause")
		}
	}
	if has("mozilla public license") {
		all = append(all, "MPL-2.0")
	}
	return all
}
