package command

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Refused is an answer outside 2xx, for commands that act on it.
type Refused struct {
	Status   int
	Messages []string
	Fields   map[string]string // path → reason
	After    time.Duration     // how long to wait before the next attempt, 0 where the service does not say
}

// AsRefused returns the refusal that err is.
func AsRefused(err error) (*Refused, bool) {
	var r *refusal
	if !errors.As(err, &r) {
		return nil, false
	}
	seconds, _ := strconv.Atoi(r.header.Get("Retry-After")) // a date, or nothing, is no time to wait
	return &Refused{r.Status, r.Messages, r.Fields, time.Duration(max(seconds, 0)) * time.Second}, true
}

// Do sends a request with the credential and returns a 2xx answer, whose body the caller closes. Any other is an error that
// AsRefused knows.
func (c *Client) Do(req *http.Request) (*http.Response, error) { return c.do(req) }

// Nearest returns the name that differs least from a mistyped one, "" if none is near.
func Nearest(typed string, names []string) string {
	best, least := "", max(2, len(typed)/4)+1
	for _, name := range names {
		if d := distance(strings.ToLower(typed), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns how many letters have to be put in, left out, exchanged or swapped with their neighbour to make b of a.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
		for j := range y {
			if i == 0 {
				rows[0][j+1] = j + 1
				continue
			}
			other := 1
			if x[i-1] == y[j] {
				other = 0
			}
			d := slices.Min([]int{rows[i-1][j+1] + 1, rows[i][j] + 1, rows[i-1][j] + other})
			if i > 1 && j > 0 && x[i-1] == y[j-1] && x[i-2] == y[j] {
				d = min(d, rows[i-2][j-1]+1)
			}
			rows[i][j+1] = d
		}
	}
	return rows[len(x)][len(y)]
}
