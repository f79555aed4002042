package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// publishBinaries fills the folder: for each platform an archive and the list of its modules, then the version's
// changes, and the checksums of all files.
func publishBinaries(ctx context.Context, s settings, platforms []platform, once bool, out io.Writer) error {
	var files []string
	var version string
	for _, p := range platforms {
		built, err := buildProgram(ctx, s, p)
		if err != nil {
			return err
		}
		if !once {
			if err := buildAgain(ctx, s.source, p, built.file); err != nil {
				return err
			}
			fmt.Fprintf(out, "%s: two builds are equal\n", p)
		}
		version = built.version()
		base := filepath.Join(s.out, strings.Join([]string{"rehearse", version, p.OS, p.Arch}, "_"))
		if err := pack(built, s.source, base+".tar.gz"); err != nil {
			return err
		}
		list, err := encodeBOM(built.info, version, built.committed)
		if err != nil {
			return err
		}
		if err := os.WriteFile(base+".cdx.json", list, 0o644); err != nil {
			return err
		}
		files = append(files, base+".tar.gz", base+".cdx.json")
	}
	changes := filepath.Join(s.out, "rehearse_"+version+"_changes.md")
	if err := writeChanges(filepath.Join(s.source, "CHANGELOG.md"), version, changes); err != nil {
		return err
	}
	files = append(files, changes)
	if err := writeSums(filepath.Join(s.out, "SHA256SUMS"), files); err != nil {
		return err
	}
	for _, file := range files {
		fmt.Fprintln(out, file)
	}
	return nil
}

// buildProgram builds for a platform, into its own folder.
func buildProgram(ctx context.Context, s settings, p platform) (*program, error) {
	file := filepath.Join(s.out, "bin", p.OS+"_"+p.Arch, "rehearse")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	if err := (builder{source: s.source}).build(ctx, p, file); err != nil {
		return nil, err
	}
	return readProgram(p, file)
}

// writeSums writes the checksums in the form that sha256sum -c reads, with names relative to the folder.
func writeSums(file string, of []string) error {
	of = slices.Sorted(slices.Values(of))
	var text strings.Builder
	for _, one := range of {
		sum, err := sumOf(one)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", hex.EncodeToString(sum), filepath.Base(one))
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
}
