package cli

import (
	"bytes"
	"testing"
)

func TestTableInAFile(t *testing.T) {
	var out bytes.Buffer
	if err := WriteTable(&out, [][]string{
		{"ID", "N", "STATEMENT"},
		{"KAI-1", "3", "Names are – as it were – lowercase."},
		{"  scenario x"},
	}); err != nil {
		t.Fatal(err)
	}
	if want := "ID     N  STATEMENT\nKAI-1  3  Names are – as it were – lowercase.\n  scenario x\n"; out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
