"""fof on sets of files that do not belong together, or of which one is there twice: refused, and
what is right does not depend on which file of a set is named.

fof_sets_test.py PROGRAM DATA SNAPSHOTS
"""

import os
import shutil

import h5py
import numpy as np
from command_case import NEEDS_MPI, each_rank, launcher
from fof_case import FofCase, main
from knn_case import Snapshot

OPTIONS = ("--rlink-abs", "0.1", "--meansep", "1")


class Sets(FofCase):
    def setUp(self):
        super().setUp()
        self.snapshot = Snapshot({1: 300})
        self.snapshot.write(self.folder / "snap_007", num_files=3)

    def name(self, number):
        return f"snap_007.{number}.hdf5"

    def edit(self, number, change):
        with h5py.File(self.folder / self.name(number), "r+") as file:
            change(file)

    def set_header(self, number, name, value):
        def change(file):
            del file["Header"].attrs[name]
            if value is not None:
                file["Header"].attrs[name] = value

        self.edit(number, change)

    def assert_all_names_are_refused(self, *words, **environment):
        for named in (self.name(0), self.name(1), self.name(2), "snap_007", "."):
            with self.subTest(named):
                self.assert_refused([named, *OPTIONS], *words, **environment)

    def test_a_number_that_one_header_lacks(self):
        """It counts as another one: which file is looked into first must not matter."""
        for name in ("BoxSize", "HubbleParam", "Omega0"):
            for number, other, words in (
                (0, 1, f"its {name} is {{}}, that of the other not stated"),
                (2, 0, f"its {name} is not stated, that of the other {{}}"),
            ):
                with self.subTest(name, number=number):
                    value = self.snapshot.header({}, 3)[name]
                    self.set_header(number, name, None)
                    self.assert_all_names_are_refused(
                        f"{self.name(max(number, other))}' belongs to another snapshot than",
                        self.name(min(number, other)),
                        words.format(f"{value:g}"),
                        "repair the header",
                    )
                    self.edit(
                        number,
                        lambda file, name=name, value=value: file["Header"].attrs.update(
                            {name: value}
                        ),
                    )
        self.fof(self.name(1), *OPTIONS)

    @NEEDS_MPI
    def test_one_error_of_all_ranks(self):
        self.set_header(0, "BoxSize", None)
        for ranks in each_rank(2, 3):
            self.assert_refused(
                [self.name(2), *OPTIONS],
                self.name(0),
                self.name(1),
                "BoxSize",
                launcher=launcher(ranks),
            )

    def test_a_box_that_is_text_in_any_file(self):
        for number in range(3):
            with self.subTest(number):
                self.set_header(number, "BoxSize", "10")
                self.assert_all_names_are_refused(
                    self.name(number), "BoxSize", "text: write the attribute as numbers"
                )
                self.set_header(number, "BoxSize", 10.0)

    def test_a_box_without_numbers(self):
        """In all files; it must not go unnoticed that there is no box."""
        for value in (h5py.Empty("f8"), np.zeros(0)):
            with self.subTest(str(value)):
                for number in range(3):
                    self.set_header(number, "BoxSize", value)
                status, _, errors = self.run_fof(self.name(1), *OPTIONS)
                self.assertEqual((status, errors.count("\n")), (0, 1), errors)
                for word in ("warning: ", "Header/BoxSize is empty", "--box-size"):
                    self.assertIn(word, errors)

    def test_what_is_read_is_that_of_the_first_file(self):
        """Also if the others say less of the units."""
        for number in (1, 2):
            self.set_header(number, "UnitLength_in_cm", None)
        plans = {
            self.fof(named, "--dry-run", *OPTIONS).split("\nCode ")[1].split("\nRead ")[0]
            for named in (self.name(0), self.name(2), "snap_007")
        }
        self.assertEqual(len(plans), 1)
        self.assertIn("length Mpc/h", plans.pop())

    def test_a_link_in_the_place_of_a_file(self):
        first, second = self.folder / self.name(0), self.folder / self.name(1)
        for link in (os.symlink, os.link):
            with self.subTest(link.__name__):
                second.unlink()
                link(first, second)
                self.assert_all_names_are_refused(
                    self.name(0), self.name(1), "one file", "count twice", "place of the link"
                )

    def test_a_copy_in_the_place_of_a_file(self):
        shutil.copy(self.folder / self.name(0), self.folder / self.name(2))
        self.assert_all_names_are_refused(
            self.name(0), self.name(2), "is a copy of", "count twice", "put the right file"
        )

    def test_files_that_differ_in_one_number_are_no_copies(self):
        """Whatever it is: they may be of particles that do not move, or lie at one point."""
        shutil.copy(self.folder / self.name(0), self.folder / self.name(2))

        def change(file):
            file["PartType1/Coordinates"][17, 1] = 5.0

        self.edit(2, change)
        self.fof(self.name(0), *OPTIONS)

    def test_files_without_particles_may_be_equal(self):
        self.snapshot.write(self.folder / "few_007", num_files=1)
        header = self.snapshot.header({1: 300}, 3)
        with h5py.File(self.folder / "few_007.hdf5", "r+") as file:
            file["Header"].attrs.update(header)
        os.rename(self.folder / "few_007.hdf5", self.folder / "few_007.0.hdf5")
        for number in (1, 2):
            with h5py.File(self.folder / f"few_007.{number}.hdf5", "w") as file:
                file.create_group("Header").attrs.update(self.snapshot.header({}, 3))
        contents = [(self.folder / f"few_007.{number}.hdf5").read_bytes() for number in (1, 2)]
        self.assertEqual(*contents)
        self.fof("few_007", *OPTIONS)


if __name__ == "__main__":
    main()
