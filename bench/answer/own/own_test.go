package own

import (
	"testing"

	"quarry/internal/llm"
)

// Proves that the committed questions have the form that README.md describes, that a third of each set are without an answer,
// and that both halves hold enough of each to compare.
func TestQuestionsAreSound(t *testing.T) {
	t.Parallel()
	sets, err := Sets()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sets {
		none, unseen := 0, 0
		for _, q := range s.Questions {
			if q.None {
				none++
			}
			if q.Unseen() {
				unseen++
			}
		}
		all := len(s.Questions)
		if none*3 < all || none*5 > all*2 {
			t.Errorf("set %s: %d of %d questions are without an answer, want a third", s.Name, none, all)
		}
		if all >= 100 && (unseen*10 < all*4 || unseen*10 > all*6) {
			t.Errorf("set %s: %d of %d questions are unseen, want a half", s.Name, unseen, all)
		}
	}
}

// Proves that a question that can't be measured is found before anything is fetched.
func TestUnsoundQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	good := Question{ID: "x-1", Kind: "what", Question: "What is it?", Document: "a.txt", Expect: "a pump"}
	for name, change := range map[string]func(*Question){
		"id of another set":     func(q *Question) { q.ID = "y-1" },
		"no question":           func(q *Question) { q.Question = "" },
		"unknown kind":          func(q *Question) { q.Kind = "riddle" },
		"no such document":      func(q *Question) { q.Document = "b.txt" },
		"broken expression":     func(q *Question) { q.Expect = "(" },
		"answer and none":       func(q *Question) { q.None = true },
		"neither answer, none":  func(q *Question) { q.Expect = "" },
		"the same id and words": nil,
	} {
		s := Set{Name: "x", Client: "npm", Packages: []Package{{
			Name: "p", Version: "1", Licence: "MIT", SHA256: string(make([]byte, 64)), Files: []File{{Path: "a", Name: "a.txt"}},
		}}, Questions: []Question{good}}
		if err := s.check(); err != nil {
			t.Fatalf("the good question: %v", err)
		}
		if change == nil {
			s.Questions = append(s.Questions, good)
		} else {
			change(&s.Questions[0])
		}
		if s.check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Proves that a value is found over line breaks, hyphens of manual pages and curly marks, and that wording is compared by words.
func TestComparison(t *testing.T) {
	t.Parallel()
	s := Set{Name: "x", Client: "npm", Packages: []Package{{Name: "p", Version: "1", Licence: "MIT", SHA256: string(make([]byte, 64)), Files: []File{{Path: "a", Name: "a.txt"}}}},
		Questions: []Question{{ID: "x-1", Kind: "default", Question: "How long is it?", Document: "a.txt", Expect: `user's default is "30 seconds"`}}}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	if !s.Questions[0].Answers("The user’s de\u2010\n   fault\nis “30  Seconds”.") {
		t.Error("a value over a line break isn't found")
	}
	if !share("Where is the state file?", "By default the State, file is where?") || share("Which file holds it?", "It holds the file.") {
		t.Error("words in a row are compared wrongly")
	}
}

// Proves that answers are judged by the sentence that holds the value, and refusals apart.
func TestJudge(t *testing.T) {
	t.Parallel()
	s := Set{Name: "x", Client: "npm", Packages: []Package{{Name: "p", Version: "1", Licence: "MIT", SHA256: string(make([]byte, 64)), Files: []File{{Path: "a", Name: "a.txt"}}}},
		Questions: []Question{
			{ID: "x-1", Kind: "default", Question: "How long?", Document: "a.txt", Expect: `30 seconds`},
			{ID: "x-2", Kind: "who", Question: "Who wrote it?", Document: "a.txt", None: true},
		}}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		question int
		answer   string
		want     verdict
	}{
		{0, "It waits 30\nseconds. [2] Then it ends. [1]", good},
		{0, "Then it ends. [1] It waits. [3] It waits 30 seconds. [2]", partly},
		{0, "Then it ends. [1]", bad},
		{0, llm.NoAnswer("eng"), refused},
		{1, llm.NoAnswer("eng"), refused},
		{1, "It waits 30 seconds. [2]", answered},
	} {
		if got := judge(s.Questions[c.question], c.answer); got != c.want {
			t.Errorf("%q is %s, want %s", c.answer, verdicts[got], verdicts[c.want])
		}
	}
}
