package outline

import "strings"

// Comment is what somebody has noted on a document.
type Comment struct {
	On           string // the cell, "" for none
	Author, Time string // as the file has them
	Text         string
}

// String returns the comment as a line, "" where it says nothing.
func (c Comment) String() string {
	text := OneLine(c.Text)
	if c.Author != "" { // which programs write into the text, too
		text = strings.TrimSpace(strings.TrimPrefix(text, c.Author+":"))
	}
	if text == "" {
		return ""
	}
	head := "Comment"
	if c.On != "" {
		head += " on " + c.On
	}
	var by []string
	if c.Author != "" {
		by = append(by, "author: "+c.Author)
	}
	if c.Time != "" {
		by = append(by, "time: "+c.Time)
	}
	if len(by) > 0 {
		head += " (" + strings.Join(by, ", ") + ")"
	}
	return head + ": " + text
}
