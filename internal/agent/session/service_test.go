package session

import (
	"regexp"
	"strings"
	"testing"
)

// TestNewKey proves that generated keys fit the contract's set and length, whatever the name is made of, and differ.
func TestNewKey(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                                   `^ase_[0-9a-f]{4}_[0-9a-f]{20}$`,
		"— Ünïcödé… ":                        `^ase_n_c_d_[0-9a-f]{4}$`,
		"日本語":                                `^ase_[0-9a-f]{4}_[0-9a-f]{20}$`,
		"Return of a Lamp!":                  `^ase_return_of_a_lamp_[0-9a-f]{4}$`,
		strings.Repeat("x", 200):             `^ase_x{41}_[0-9a-f]{4}$`,
		strings.Repeat("x", 40) + " " + "yz": `^ase_x{40}_[0-9a-f]{4}$`,
	} {
		first, second := newKey(name), newKey(name)
		if !regexp.MustCompile(want).MatchString(first) || !keys.MatchString(first) {
			t.Errorf("%q has the key %s, want %s", name, first, want)
		}
		if name == "" && first == second {
			t.Errorf("two sessions have the key %s", first)
		}
	}
}
