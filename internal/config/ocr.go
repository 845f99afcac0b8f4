package config

import (
	"errors"
	"fmt"
	"regexp"
)

// maxOCRPages is as many pages as a PDF may have.
const maxOCRPages = 20_000

// languageName is the form of the names of languages in tesseract: eng, chi_sim, script/Latin.
var languageName = regexp.MustCompile(`^[A-Za-z0-9_]+(/[A-Za-z0-9_]+)?$`)

// Languages returns the setting ocr_languages.
func (c *Config) Languages() []string { return parts(c.OCRLanguages) }

func (c *Config) checkOCR() error {
	if c.OCRPages < 0 || c.OCRPages > maxOCRPages {
		return fmt.Errorf("setting ocr_pages must be between 0 and %d", maxOCRPages)
	}
	if c.OCRPages == 0 {
		return nil
	}
	if c.Tesseract == "" {
		return errors.New("setting tesseract is empty: name the program, or set ocr_pages to 0")
	}
	if len(c.Languages()) == 0 {
		return errors.New("setting ocr_languages is empty: name a language, such as eng")
	}
	for _, l := range c.Languages() {
		if !languageName.MatchString(l) {
			return fmt.Errorf("setting ocr_languages has %q: write names of tesseract, such as eng, separated by commas", l)
		}
	}
	return nil
}
