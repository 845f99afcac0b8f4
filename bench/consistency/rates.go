package main

import (
	"fmt"

	"quarry/internal/answer/verify"
)

// reportRates prints the share of sentences in which each kind of difference is found.
func reportRates(sets []*set) {
	fmt.Println("share of sentences with a difference: supported, unsupported")
	for _, k := range []struct {
		name string
		has  func(verify.Differences) bool
	}{
		{"a number that no near sentence has", func(d verify.Differences) bool { return len(d.Numbers) > 0 }},
		{"a number of another sentence", func(d verify.Differences) bool { return d.Astray > 0 }},
		{"a name that no source has", func(d verify.Differences) bool { return len(d.Names) > 0 }},
		{"denied on one side only", func(d verify.Differences) bool { return len(d.Denied) > 0 }},
		{"turned into the opposite", func(d verify.Differences) bool { return len(d.Turned) > 0 }},
		{"contradicted", func(d verify.Differences) bool { return d.Contradicted(verify.Shipped()) }},
	} {
		fmt.Printf("  %-38s", k.name)
		for _, s := range sets {
			var n, all [2]float64
			for _, c := range s.cases {
				for i, f := range c.found {
					class := 1
					if c.labels[i] {
						class = 0
					}
					all[class]++
					if k.has(f.Differences) {
						n[class]++
						if verbose && class == 0 && n[0] < 40 {
							d := f.Differences
							fmt.Printf("\n   %v %v %v | %s\n        %s", d.Numbers, d.Names, d.Denied, c.Text[f.Start:f.End], f.Near[0].Text)
						}
					}
				}
			}
			fmt.Printf("   %s %5.1f %% %5.1f %%", s.name, 100*n[0]/all[0], 100*n[1]/all[1])
		}
		fmt.Println()
	}
	fmt.Println()
}
