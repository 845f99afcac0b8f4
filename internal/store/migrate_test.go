package store_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMigrationNumbers proves that the files of migrations are numbered from 1, each number once and none left out: of two with one
// number, which two branches have taken at the same time, a database would get one.
func TestMigrationNumbers(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there are no migrations: the test looks at nothing")
	}
	for i, f := range files { // sorted by name
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(f.Name(), want) || !strings.HasSuffix(f.Name(), ".sql") {
			t.Errorf("migration %s is at the place of %s<name>.sql", f.Name(), want)
		}
	}
}
