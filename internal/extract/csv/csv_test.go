package csv_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/internal/extract/csv"
)

// TestRead proves which delimiters and quotations are found, and what of a file is a table.
func TestRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"commas":                    {"a,b\n1,2\n3,4\n", `[[a b]][[1 2] [3 4]]`},
		"semicolons, decimal comma": {"a;b\r\n1,5;2\r\n3,5;4\r\n", `[[a b]][[1,5 2] [3,5 4]]`},
		"tabs":                      {"a\tb c\n1, 2\t3\n4, 5\t6", `[[a b c]][[1, 2 3] [4, 5 6]]`},
		"bars":                      {"a|b\n1|2\n", `[[a b]][[1 2]]`},
		"a line that says it":       {"sep=;\na,b;c\n1;2\n", `[[a,b c]][[1 2]]`},
		"quotations":                {"a,b\n\"x, \"\"y\"\"\nz\", 2\n", `[[a b]][[x, "y" z 2]]`},
		"single quotations":         {"'a,1','b'\n'c','d'\n'e','f'\n", `[[a,1 b]][[c d] [e f]]`},
		"an apostrophe":             {"a,b\n'tis,2\n", `[[a b]][['tis 2]]`},
		"a mark inside":             {"a,b\n5\" pipe,\"6\" pipe\"\n", `[[a b]][[5" pipe 6" pipe]]`},
		"a quotation without end":   {"a,b\n\"1,2\n3,\"4\n", `[[a b]][["1 2] [3 "4]]`},
		"one column":                {"Industry\nSales\nOther", `[[Industry]][[Sales] [Other]]`},
		"ragged rows":               {"a,b\n1,2,3\n4\n", `[[a b ]][[1 2 3] [4  ]]`},
		"a column without name":     {"a,,c\n1,,3\n2,,4\n", `[[a  c]][[1  3] [2  4]]`},
		"two tables":                {"a,b\n1,2\n\nc,d\n3,4\n", `[[a b]][[1 2]][[c d]][[3 4]]`},
		"a title":                   {"Sales\n\na,b\n1,2\n", `Sales[[a b]][[1 2]]`},
		"old line ends":             {"a,b\r1,2\r", `[[a b]][[1 2]]`},
	} {
		doc, err := csv.Read(tt.in)
		if err != nil || len(doc.Sections) != 1 {
			t.Errorf("%s: %+v, %v", name, doc, err)
			continue
		}
		got := doc.Sections[0].Text
		for _, table := range doc.Sections[0].Tables {
			got += fmt.Sprintf("%v%v", table.Headers, table.Rows)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if doc, err := csv.Read(" \n\n"); err != nil || len(doc.Sections) != 0 {
		t.Errorf("white space: %+v, %v", doc, err)
	}
}

// TestReadLong proves that a file with more rows than a document has room for is read as text, nothing lost.
func TestReadLong(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{"rows": strings.Repeat("1,2\n", 150_000), "cells": strings.Repeat(strings.Repeat("1,", 50)+"1\n", 50_000)} {
		doc, err := csv.Read(in)
		if err != nil || len(doc.Sections) != 1 || len(doc.Sections[0].Tables) != 0 || len(doc.Sections[0].Text) < len(in)-10 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	// Proves that no text makes it panic or loses a letter.
	f.Add("a,b\n\"x, \"\"y\"\"\nz\", 2\n")
	f.Add("sep=;\n'a';b\r\n")
	f.Add("\"1,2\n3,\"4\n")
	f.Add("sep=a\r")
	f.Fuzz(func(t *testing.T, in string) {
		doc, err := csv.Read(in)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, s := range doc.Sections {
			got.WriteString(s.Text)
			for _, table := range s.Tables {
				fmt.Fprint(&got, table.Title, table.Headers, table.Rows)
			}
		}
		want := in
		if len(in) > 4 && strings.EqualFold(in[:4], "sep=") { // perhaps a line that names the delimiter
			want = in[4:]
		}
		for _, r := range want {
			if r >= 'a' && r <= 'z' && !strings.ContainsRune(got.String(), r) {
				t.Fatalf("%q is lost: %s", r, &got)
			}
		}
	})
}
