package app

import (
	"context"
	"errors"

	"quarry/internal/config"
	"quarry/internal/corpus/ingest"
	"quarry/internal/ocr"
)

// recognition is what recognises text in pictures, or why nothing does.
type recognition struct {
	program *ocr.Program // nil for nothing
	absent  string
}

// findOCR looks for what recognises text. What the settings name must be there; what is only looked for need not.
func findOCR(ctx context.Context, cfg config.Config) (recognition, error) {
	if cfg.OCRPages == 0 {
		return recognition{absent: "the setting ocr_pages of the service is 0"}, nil
	}
	program, err := ocr.Find(ctx, ocr.Config{Tesseract: cfg.Tesseract, Languages: cfg.Languages(), Time: parseTime(cfg)})
	var absent *ocr.Absent
	usual := config.Default()
	switch {
	case !errors.As(err, &absent):
		return recognition{program: program}, err
	case absent.Setting == "tesseract" && cfg.Tesseract != usual.Tesseract, absent.Setting == "ocr_languages" && cfg.OCRLanguages != usual.OCRLanguages:
		return recognition{}, &SettingError{absent}
	}
	return recognition{absent: absent.Reason}, nil
}

// startFindingOCR looks for what recognises text while the caller goes on: the programs are asked, which takes longer than all else
// that is done before the database is open. The result waits for the answer, and returns it as often as it is called. Where the
// settings name something, it has been found when startFindingOCR returns.
func startFindingOCR(ctx context.Context, cfg config.Config) (found func() recognition, err error) {
	usual := config.Default()
	if cfg.Tesseract != usual.Tesseract || cfg.OCRLanguages != usual.OCRLanguages {
		r, err := findOCR(ctx, cfg)
		return func() recognition { return r }, err
	}
	var r recognition
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, _ = findOCR(ctx, cfg) // fails only for what the settings name
	}()
	return func() recognition {
		<-done
		return r
	}, nil
}

// reads returns how pages that are pictures are read.
func (r recognition) reads(cfg config.Config) ingest.OCR {
	out := ingest.OCR{Absent: r.absent, Pages: int(cfg.OCRPages)}
	if r.program != nil {
		out.Recogniser = r.program
	}
	return out
}

func (r recognition) close() {
	if r.program != nil {
		r.program.Close()
	}
}

// Recognition returns what recognises text in pictures, or what it costs that nothing does.
func (a *App) Recognition() string {
	r := a.ocr()
	if r.program != nil {
		return r.program.String()
	}
	return "none, so that pictures and scanned PDF are refused: " + r.absent
}
