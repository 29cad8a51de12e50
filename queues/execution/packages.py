"""The modules of a service: a package of its own, named by its mount.

A script at scripts/send.py of /mailer is the module `/mailer.scripts.send`. It imports
scripts/helper.py as `from . import helper`, or plainly as `import helper`, which is another name of
the same module while a script of this service runs.
"""

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from posixpath import dirname
from types import CodeType, ModuleType
from typing import Any

from queues.sandbox.trust import trusted_file


class Package:
    """Its modules are in sys.modules while one of its scripts runs, and kept here meanwhile."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self._modules: dict[str, ModuleType] = {}

    def load(self, path: str) -> ModuleType:
        """Return the module of a script."""
        name = self.module_name(path.removesuffix(".py"))
        if name in sys.modules:  # another script has imported it
            return sys.modules[name]
        module = module_from_spec(self._file_spec(name, path))
        FINDER.own_names.add(name)
        sys.modules[name] = module
        try:
            module.__spec__.loader.exec_module(module)  # type: ignore[union-attr]
        except BaseException:
            sys.modules.pop(name, None)
            raise
        return module

    def enter(self, path: str) -> None:
        """Let imports be those of a script."""
        place = dirname(path)
        if FINDER.package is not self or FINDER.place != place:
            leave()
            FINDER.begin(self, place)
            FINDER.own_names.update(self._modules)
            sys.modules.update(self._modules)

    def keep(self, modules: dict[str, ModuleType]) -> None:
        self._modules = modules

    def forget(self) -> None:
        """Read every module anew when it is next imported."""
        if FINDER.package is self:
            leave()
        self._modules = {}

    def spec(self, name: str) -> ModuleSpec | None:
        """Find a module by its whole name, on the disk as it is now."""
        parts = name.removeprefix(self.name).split(".")[1:]
        path = "/".join(parts) or "."
        if (self.folder / path / "__init__.py").is_file():
            return self._file_spec(name, f"{path}/__init__.py", is_package=True)
        if parts and (self.folder / f"{path}.py").is_file():
            return self._file_spec(name, f"{path}.py")
        if (self.folder / path).is_dir():
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [str(self.folder / path)]
            return spec
        return None

    def _file_spec(self, name: str, path: str, *, is_package: bool = False) -> ModuleSpec:
        file = trusted_file(self.folder, path)
        places = [str(file.parent)] if is_package else None
        spec = spec_from_file_location(
            name, file, loader=SourceLoader(name, str(file)), submodule_search_locations=places
        )
        assert spec is not None
        return spec

    def module_name(self, path: str) -> str:
        parts = [part.replace(".", "_") for part in path.split("/") if part]
        return ".".join([self.name, *parts])


class SourceLoader(SourceFileLoader):
    """Compile a file as it is now, and leave no byte code beside it.

    Byte code is compared by the second: a change within that second would go unnoticed.
    """

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


class Finder(MetaPathFinder):
    """Find the modules of the service whose script runs, and what `import helper` means there.

    Libraries come first, so that no module of a service can hide one of them.
    """

    def __init__(self) -> None:
        self.package: Package | None = None
        self.place = ""  # the folder of the script
        self.own_names: set[str] = set()
        self._plain_names: set[str] = set()

    def begin(self, package: Package, place: str) -> None:
        self.package, self.place = package, place
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def end(self) -> None:
        """Take the modules out of sys.modules."""
        for name in self._plain_names:
            sys.modules.pop(name, None)
        modules = {name: sys.modules.pop(name, None) for name in self.own_names}
        if self.package is not None:
            self.package.keep({name: each for name, each in modules.items() if each is not None})
        self.package, self.own_names, self._plain_names = None, set(), set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if self.package is None:
            return None
        if self._is_own(name):
            self.own_names.add(name)
            return self.package.spec(name)
        whole_name = self._whole_name(name)
        if not whole_name or ("." not in name and self._is_library(name)):
            return None
        self._plain_names.add(name)
        return ModuleSpec(name, OtherName(whole_name))

    def _is_own(self, name: str) -> bool:
        assert self.package is not None
        return name.partition(".")[0] == self.package.name

    def _whole_name(self, name: str) -> str:
        """Return the module that a plain name means; nothing where the service has none."""
        assert self.package is not None
        parent, _, last = name.rpartition(".")
        parents = [self.package.module_name(self.place), self.package.name]
        if parent:
            known = getattr(sys.modules.get(parent), "__name__", "")
            parents = [known] if self._is_own(known) else []
        names = [f"{each}.{last}" for each in parents]
        return next((each for each in names if self.package.spec(each)), "")

    def _is_library(self, name: str) -> bool:
        """Return whether others find it; a mere folder or a file of the service does not count."""
        assert self.package is not None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, None) if finder is not self else None
            if spec is not None and spec.origin:
                return not Path(spec.origin).is_relative_to(self.package.folder)
        return False


class OtherName(Loader):
    """Give a module a second name in sys.modules."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has replaced it by the second name's


FINDER = Finder()


def leave() -> None:
    """Let imports be those of this program."""
    FINDER.end()
