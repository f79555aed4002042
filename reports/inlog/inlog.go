// Package inlog transports the report folder of a shard in the log of its pod, in lines between the other output. The
// reader restores the folder from these lines. This needs no volume, no storage and no permissions in the cluster.
package inlog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	// mark begins each line. It is followed by an identifier, the line's number (from 0), and base64. The last line has
	// the identifier, "end", the number of lines, and the SHA-256 of the data.
	mark = "#rehearse-report"
	// lineLength keeps a line below 16 KiB, at which container engines split it.
	lineLength = 8 << 10
	// Limit is the maximum length of all lines of a report. By default, a kubelet keeps only the newest 10 MiB of a log.
	Limit = 6 << 20
)

// Write prints the files of a folder. It must include the first one. If the others do not fit, it omits the largest
// ones and returns their names. The identifier distinguishes the reports in one log; it must not contain blanks.
func Write(out io.Writer, id, dir, first string, others []string, limit int) (left []string, err error) {
	others = slices.Clone(others)
	sizes := map[string]int64{}
	for _, name := range others {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("carry a report in the log: %w", err)
		}
		sizes[name] = info.Size()
	}
	slices.SortStableFunc(others, func(a, b string) int { return cmp.Compare(sizes[a], sizes[b]) })
	for {
		data, err := Pack(dir, append([]string{first}, others...))
		if err != nil {
			return nil, fmt.Errorf("carry a report in the log: %w", err)
		}
		if base64.StdEncoding.EncodedLen(len(data)) <= limit {
			return left, printLines(out, id, data)
		}
		if len(others) == 0 {
			return left, fmt.Errorf("carry a report in the log: %s alone takes %d bytes, and %d fit", first, len(data), limit)
		}
		half := len(others) / 2
		left, others = append(left, others[half:]...), others[:half]
	}
}

func printLines(out io.Writer, id string, data []byte) error {
	text := base64.StdEncoding.EncodeToString(data)
	n := 0
	for part := range slices.Chunk([]byte(text), lineLength) {
		if _, err := fmt.Fprintf(out, "%s %s %d %s\n", mark, id, n, part); err != nil {
			return err
		}
		n++
	}
	sum := sha256.Sum256(data)
	_, err := fmt.Fprintf(out, "%s %s end %d %s\n", mark, id, n, hex.EncodeToString(sum[:]))
	return err
}

// Reader finds the reports in a log, line by line. The zero value is ready to use.
type Reader struct {
	parts map[string][]string
	// bad has the identifiers of reports with missing or changed lines.
	bad map[string]error
}

// Report is a complete report from a log.
type Report struct {
	ID   string
	data []byte
}

// BrokenError is a report that cannot be read. ID is that of the report.
type BrokenError struct {
	ID  string
	Err error
}

// Error returns which report is broken, and why.
func (e *BrokenError) Error() string { return fmt.Sprintf("the report of %s: %v", e.ID, e.Err) }

// Unwrap is the reason.
func (e *BrokenError) Unwrap() error { return e.Err }

// Line processes the next line. It returns whether the line belongs to a report, and the report that ends with it. A
// broken report is a BrokenError. A report that has no end before the first line of one with the same identifier is
// dropped: a process that was killed printed it, and its successor prints another one.
func (r *Reader) Line(line string) (ours bool, whole *Report, err error) {
	words := strings.Fields(line)
	// Rehearse indents what others say.
	if len(words) < 4 || words[0] != mark || !strings.HasPrefix(line, mark) {
		return false, nil, nil
	}
	if r.parts == nil {
		r.parts, r.bad = map[string][]string{}, map[string]error{}
	}
	id := words[1]
	if words[2] == "0" {
		delete(r.parts, id)
		delete(r.bad, id)
	}
	if words[2] != "end" {
		if n, err := strconv.Atoi(words[2]); err != nil || n != len(r.parts[id]) {
			r.bad[id] = cmp.Or(r.bad[id], fmt.Errorf("line %d of the report is missing in the log", len(r.parts[id])))
		}
		r.parts[id] = append(r.parts[id], words[3])
		return true, nil, nil
	}
	defer delete(r.parts, id)
	defer delete(r.bad, id)
	data, err := joined(r.parts[id], words[3:], r.bad[id])
	if err != nil {
		return true, nil, &BrokenError{id, err}
	}
	return true, &Report{ID: id, data: data}, nil
}

// joined returns the bytes of a report, if the last line confirms that it is complete.
func joined(parts, end []string, bad error) ([]byte, error) {
	if bad != nil {
		return nil, bad
	}
	if len(end) != 2 || end[0] != strconv.Itoa(len(parts)) {
		return nil, fmt.Errorf("%d lines are there, and %s were written", len(parts), end[0])
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(parts, ""))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != end[1] {
		return nil, errors.New("its checksum does not match")
	}
	return data, nil
}

// Unfinished returns the identifiers of reports without an end so far.
func (r *Reader) Unfinished() []string {
	var all []string
	for id := range r.parts {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// Unpack writes the report's files into a folder, which it creates.
func (r *Report) Unpack(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("unpack the report of %s: %w", r.ID, err)
	}
	if err := Unpack(bytes.NewReader(r.data), dir); err != nil {
		return fmt.Errorf("unpack the report of %s: %w", r.ID, err)
	}
	return nil
}
