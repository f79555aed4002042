package scenarios

import (
	"errors"
	"maps"

	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// origin is what a scenario was read from.
type origin struct {
	document *document
	// row is the index of the scenario's row in the table of the document.
	row int
}

// refill is what is different when a scenario is read again.
type refill struct {
	// text returns what replaces a text in a table. adapt changes the scenario before it is checked.
	text  func(string) (string, error)
	adapt func(*Scenario) error
	// failed is the first error of these functions.
	failed error
}

// Refilled reads the scenario again with other texts in its tables, so that they also replace what loading filled in.
// text returns what replaces a text. adapt is called when all steps are read, and may change the scenario before it is
// checked. Rows keep their names. Refilled returns the first error of these two functions unchanged, or the mistakes of
// the new scenario.
func (s *Scenario) Refilled(text func(string) (string, error), adapt func(*Scenario) error) (*Scenario, error) {
	if s.origin == nil {
		return nil, errors.New("it was changed after it was loaded, so it cannot be read again")
	}
	from, found := s.origin.document, &yamltree.Problems{}
	d := &document{
		found: found, expressions: from.expressions, root: from.root, definitions: maps.Clone(from.definitions),
		refill: &refill{text: text, adapt: adapt},
	}
	rows, columns := d.rows()
	var next *Scenario
	if i := s.origin.row; i < len(rows) { // otherwise the table has an error
		next = d.scenarioOf(i, rows[i], columns)
	}
	switch err := yamltree.JoinErrors(nil, found.List); {
	case d.refill.failed != nil:
		return nil, d.refill.failed
	case err != nil:
		return nil, err
	}
	return next, nil
}

// replaced returns what replaces a text in a table.
func (r *refill) replaced(text string) string {
	next, err := r.text(text)
	if err != nil {
		r.fail(err)
		return text
	}
	return next
}

// apply adapts a scenario whose steps are read.
func (r *refill) apply(s *Scenario) {
	if r.failed == nil {
		r.fail(r.adapt(s))
	}
}

func (r *refill) fail(err error) {
	if r.failed == nil {
		r.failed = err
	}
}
