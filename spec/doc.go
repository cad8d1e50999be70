// Package spec holds what is known about a specification before anything is
// run: its requirements, its limits, its vocabulary, and the rule that says
// which requirements a run can be expected to decide.
//
// Start at [LoadCatalogue], which reads the two data files of a suite, and at
// [Catalogue.Select], which turns what a user typed into requirements. The
// catalogues themselves are data in the folders below this one: package
// backend has the first. Generated typed ids live in spec/gen.
//
// The package knows no protocol and no status: it says what could be decided
// ([Requirement.Decidable]), never what was. It does not check that a
// statement renders its specification faithfully; only a reader can.
package spec
